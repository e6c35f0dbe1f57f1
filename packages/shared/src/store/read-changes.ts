import { SESSION_STATES, UNDO_STATES } from '../domain/states.js';
import type { Tx } from './database.js';

/**
 * A place in an org's history: the transaction that wrote an entry, and its number within. Numbers alone would not do,
 * since a transaction that took an early one may commit late.
 */
export interface ChangeCursor {
  readonly xid: string;
  readonly seq: number;
}

export interface Change {
  readonly cursor: ChangeCursor;
  readonly event: 'session' | 'undo';
  readonly sessionId: string;
  readonly undoId: string | null;
  readonly state: string;
  readonly at: string;
}

// Only what no transaction that is still open could come before: every entry is read once its place is final.
const READ = `
SELECT xid::text AS xid, seq, at, action, session_id, undo_id FROM undolog_audit_log
WHERE org_id = $1 AND (xid, seq) > ($2::text::xid8, $3::bigint) AND xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY xid, seq LIMIT $4`;

interface Row {
  xid: string;
  seq: number;
  at: string;
  action: string;
  session_id: string | null;
  undo_id: string | null;
}

const STATES: Readonly<Record<string, readonly string[]>> = { session: SESSION_STATES, undo: UNDO_STATES };

/** An entry of the audit log that tells of a new state; others do not belong to the stream. */
function toChange({ action, session_id, undo_id, ...row }: Row): Change[] {
  const [thing, state] = action.split('.') as [string, string];
  if (session_id === null || !STATES[thing]?.includes(state)) return [];
  const event = thing as Change['event'];
  const cursor = { xid: row.xid, seq: row.seq };
  return [{ cursor, event, sessionId: session_id, undoId: event === 'undo' ? undo_id : null, state, at: row.at }];
}

/** The changes after a place, oldest first, and where to go on. */
export async function readChanges(
  tx: Tx,
  orgId: string,
  after: ChangeCursor,
  limit: number,
): Promise<{ changes: Change[]; next: ChangeCursor; more: boolean }> {
  const values = [orgId, after.xid, after.seq, limit];
  const rows = await tx.query<Row>({ name: 'read_changes', text: READ, values });
  const last = rows.at(-1);
  return {
    changes: rows.flatMap(toChange),
    next: last ? { xid: last.xid, seq: last.seq } : after,
    more: rows.length === limit,
  };
}

/** Now: whatever is not committed yet comes after. */
export async function presentPlace(tx: Tx): Promise<ChangeCursor> {
  const [row] = await tx.query<{ xid: string }>({
    name: 'present_place',
    text: 'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid',
  });
  return { xid: row!.xid, seq: 0 };
}
