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

// A session's children come just before its entry at their position, the newest first. Nothing runs the entries of a
// session that was completed or resolved, unless its parent unwinds it.
const SELECT = `
WITH RECURSIVE family AS (
  SELECT s.org_id, s.session_id, s.state NOT IN ('completed', 'resolved') AS runs, $3::int AS to_position,
    ${ROLLING_BACK} OR s.state = 'active' AND NOT ${LEASE_EXPIRED} AS open, ARRAY[]::bigint[] AS path
  FROM undolog_sessions s WHERE s.org_id = $1 AND s.session_id = $2
  UNION ALL
  SELECT k.org_id, k.session_id, true, -1, false,
    f.path || ARRAY[-k.parent_position, 0, -extract(epoch FROM k.created_at) * 1000000]::bigint[]
  FROM family f
  JOIN undolog_sessions k ON k.parent_session_id = f.session_id AND k.org_id = f.org_id
    AND k.parent_position > f.to_position AND k.state NOT IN ('compensated', 'resolved')
  WHERE f.runs
)
SELECT f.open, f.session_id, u.undo_id, u.effect_id, u.stack_position, u.fn_name, u.version, u.args, u.needs_result,
  coalesce(u.found_result, e.result) AS result, u.confirm_until IS NOT NULL AS confirming,
  CASE WHEN e.committed_at IS NOT NULL THEN 'committed' WHEN u.found_result IS NOT NULL THEN 'found' ELSE 'unknown' END
    AS outcome,
  clock_timestamp() > coalesce(e.committed_at, e.executed_at) + r.undo_deadline_seconds * interval '1 second' AS too_late,
  r.spec
FROM family f
LEFT JOIN undolog_undo_stack u ON u.org_id = f.org_id AND u.session_id = f.session_id AND f.runs
  AND u.superseded_by IS NULL AND u.state IN ('pending', 'active', 'running') AND u.stack_position > f.to_position
LEFT JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
LEFT JOIN undolog_compensation_registry r ON r.org_id = u.org_id AND r.fn_name = u.fn_name AND r.version = u.version
ORDER BY f.path || ARRAY[-u.stack_position, 1]::bigint[]`;

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
  /** Null: it has no window. */
  too_late: boolean | null;
  spec: Buffer | null;
}

type Row = { open: boolean; session_id: string } & (EntryRow | { [Column in keyof EntryRow]: null });

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
        sessionId: row.session_id,
        effectId: row.effect_id,
        undoId: row.undo_id,
        stackPosition: row.stack_position,
        fnName: row.fn_name,
        version: row.version,
        outcome: row.outcome,
        hasLookup: row.outcome === 'unknown' && hasLookup(tx.vault, orgId, row),
        bound: isBound(tx.vault, orgId, row),
        confirming: row.confirming,
        tooLate: row.too_late ?? false,
      },
    ];
  });
  return { plan: planUnwind(entries), open: rows.some((row) => row.open) };
}
