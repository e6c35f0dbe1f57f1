import type { Compensation } from '../domain/compensation.js';
import { bindResult } from '../domain/references.js';
import { planUnwind, type PlannedEntry, type UnwindPlan } from '../domain/unwind-plan.js';
import type { Vault } from '../domain/vault.js';
import type { Tx } from './database.js';
import { LEASE_EXPIRED } from './lease.js';
import { placeOfSpec } from './put-compensation.js';
import { ROLLING_BACK } from './roll-back-session.js';

export interface SessionPlan {
  readonly plan: UnwindPlan;
  /** Whether a failure of the session would start an unwind, or make one of a rollback. */
  readonly open: boolean;
}

// Nothing runs the entries of a session that was completed or resolved.
const SELECT = `
SELECT ${ROLLING_BACK} OR s.state = 'active' AND NOT ${LEASE_EXPIRED} AS open,
  u.undo_id, u.effect_id, u.stack_position, u.fn_name, u.version, u.args, u.needs_result,
  coalesce(u.found_result, e.result) AS result, u.confirm_until IS NOT NULL AS confirming,
  CASE WHEN e.committed_at IS NOT NULL THEN 'committed' WHEN u.found_result IS NOT NULL THEN 'found' ELSE 'unknown' END
    AS outcome,
  r.spec
FROM undolog_sessions s
LEFT JOIN undolog_undo_stack u ON u.org_id = s.org_id AND u.session_id = s.session_id
  AND u.superseded_by IS NULL AND u.state IN ('pending', 'active', 'running') AND u.stack_position > $3
  AND s.state NOT IN ('completed', 'resolved')
LEFT JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
LEFT JOIN undolog_compensation_registry r ON r.org_id = u.org_id AND r.fn_name = u.fn_name AND r.version = u.version
WHERE s.org_id = $1 AND s.session_id = $2
ORDER BY u.stack_position DESC`;

interface EntryRow {
  undo_id: string;
  effect_id: string;
  stack_position: number;
  fn_name: string | null;
  version: string | null;
  args: Buffer | null;
  needs_result: boolean;
  result: Buffer | null;
  confirming: boolean;
  outcome: PlannedEntry['outcome'];
  spec: Buffer | null;
}

type Row = { open: boolean } & (EntryRow | { [Column in keyof EntryRow]: null });

/** What can't be read here is taken to be in order: such an entry waits for its key, and then is called. */
function isBound(vault: Vault, orgId: string, row: EntryRow): boolean {
  if (!row.needs_result || row.args === null) return true;
  if (row.result === null) return false;
  const args = vault.unseal({ orgId, column: 'undo_args', row: row.effect_id }, row.args);
  const result = vault.unseal({ orgId, column: 'effect_result', row: row.effect_id }, row.result);
  return !args.ok || !result.ok || bindResult(args.text, result.text).ok;
}

function hasLookup(vault: Vault, orgId: string, { fn_name: fnName, version, spec }: EntryRow): boolean {
  if (fnName === null || version === null || spec === null) return false;
  const read = vault.unseal(placeOfSpec(orgId, fnName, version), spec);
  return read.ok && (JSON.parse(read.text) as Compensation).lookup !== undefined;
}

/** What an unwind of the session down to a position would do, from the rows that decide it. Undefined: no such session. */
export async function planSession(
  tx: Tx,
  orgId: string,
  sessionId: string,
  toPosition: number,
): Promise<SessionPlan | undefined> {
  const values = [orgId, sessionId, toPosition];
  const rows = await tx.query<Row>({ name: 'plan_session', text: SELECT, values });
  if (rows.length === 0) return undefined;
  const entries = rows.flatMap((row): PlannedEntry[] => {
    if (row.undo_id === null) return [];
    return [
      {
        effectId: row.effect_id,
        undoId: row.undo_id,
        stackPosition: row.stack_position,
        fnName: row.fn_name,
        version: row.version,
        outcome: row.outcome,
        hasLookup: row.outcome === 'unknown' && hasLookup(tx.vault, orgId, row),
        bound: isBound(tx.vault, orgId, row),
        confirming: row.confirming,
      },
    ];
  });
  return { plan: planUnwind(entries), open: rows[0]!.open };
}
