import { JsonText } from '../domain/json-text.js';
import type { LookupMemory } from '../domain/lookup.js';
import type { UnsealFault } from '../domain/vault.js';
import type { Tx } from './database.js';
import { LEASE_EXPIRED } from './lease.js';

/** An effect of a running session, reported as unknown, that a worker looks for. */
export interface PendingLookup {
  readonly sessionId: string;
  readonly undoId: string;
  readonly effectId: string;
  /** When it fell due; whoever settles names it, so that one look is counted once. */
  readonly lookAt: string;
  readonly fnName: string;
  readonly version: string;
  readonly args: JsonText;
  readonly traceparent: string | null;
  readonly maxRetries: number;
  readonly memory: LookupMemory;
}

export type LookupTurn =
  | { readonly outcome: 'due'; readonly lookup: PendingLookup }
  | { readonly outcome: 'not_due'; readonly waitMs: number }
  /** Its arguments can't be read in this process. */
  | { readonly outcome: 'unreadable'; readonly fault: UnsealFault }
  /** It was reported, its session has ended, its compensation is paused, or it never was. */
  | { readonly outcome: 'gone' };

/** What must hold for a look to decide anything; `u`, `s` and `e` are the entry, its session and its effect. */
export const LOOK_IS_OPEN = `u.look_at IS NOT NULL AND u.state = 'pending' AND u.superseded_by IS NULL
  AND s.state = 'active' AND NOT ${LEASE_EXPIRED} AND e.state = 'executing' AND e.reported = 'unknown'`;

const READ = `
SELECT u.session_id, u.effect_id, u.look_at, u.fn_name, u.version, u.args, u.max_retries, u.failed_lookups, e.traceparent,
  ceil(extract(epoch FROM clock_timestamp() - u.absent_since) * 1000)::float8 AS absent_for_ms,
  ceil(extract(epoch FROM u.look_at - clock_timestamp()) * 1000)::float8 AS wait_ms
FROM undolog_undo_stack u
JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
LEFT JOIN undolog_paused_compensations p ON p.org_id = u.org_id AND p.fn_name = u.fn_name
WHERE u.org_id = $1 AND u.undo_id = $2 AND p.fn_name IS NULL AND ${LOOK_IS_OPEN}`;

interface Row {
  session_id: string;
  effect_id: string;
  look_at: string;
  fn_name: string;
  version: string;
  args: Buffer;
  max_retries: number;
  failed_lookups: number;
  traceparent: string | null;
  absent_for_ms: number | null;
  wait_ms: number;
}

/**
 * What a worker needs to look for an effect. Asking changes nothing at the vendor, so a look is not claimed: two at once
 * are a waste and no harm.
 */
export async function readLookup(tx: Tx, orgId: string, undoId: string): Promise<LookupTurn> {
  const [row] = await tx.query<Row>({ name: 'read_lookup', text: READ, values: [orgId, undoId] });
  if (!row) return { outcome: 'gone' };
  if (row.wait_ms > 0) return { outcome: 'not_due', waitMs: row.wait_ms };
  const args = tx.vault.unseal({ orgId, column: 'undo_args', row: row.effect_id }, row.args);
  if (!args.ok) return { outcome: 'unreadable', fault: args.fault };
  return {
    outcome: 'due',
    lookup: {
      sessionId: row.session_id,
      undoId,
      effectId: row.effect_id,
      lookAt: row.look_at,
      fnName: row.fn_name,
      version: row.version,
      args: new JsonText(args.text),
      traceparent: row.traceparent,
      maxRetries: row.max_retries,
      memory: { absentForMs: row.absent_for_ms, failed: row.failed_lookups },
    },
  };
}
