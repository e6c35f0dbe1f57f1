import type { WakeUp } from '../domain/wake-up.js';
import type { Database } from './database.js';

/** A resumption wakes what was parked; should that call be lost, this is how long it takes to be noticed. */
const LOOK_AT_PAUSED_AFTER = `interval '10 seconds'`;

// Nothing but the sweep writes wake_at while an unwind runs, so a session in good health is looked at once per
// interval, and a backlog costs the sweep no more than its limit.
const TAKE = `
WITH due AS (
  SELECT org_id, session_id, top_undo_id FROM undolog_sessions
  WHERE wake_at <= clock_timestamp()
  ORDER BY wake_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), looked AS (
  SELECT d.*, u.fence, greatest(u.claimed_until, u.next_attempt_at,
    CASE WHEN p.fn_name IS NOT NULL THEN clock_timestamp() + ${LOOK_AT_PAUSED_AFTER} END) AS busy_until
  FROM due d
  LEFT JOIN undolog_undo_stack u ON u.org_id = d.org_id AND u.undo_id = d.top_undo_id
  LEFT JOIN undolog_paused_compensations p ON p.org_id = u.org_id AND p.fn_name = u.fn_name
), next AS (
  UPDATE undolog_sessions s
  SET wake_at = greatest(clock_timestamp() + $2 * interval '1 millisecond', l.busy_until)
  FROM looked l WHERE s.org_id = l.org_id AND s.session_id = l.session_id
)
SELECT org_id, session_id, top_undo_id, fence,
  coalesce(busy_until > clock_timestamp(), false) AS busy
FROM looked`;

interface Row {
  org_id: string;
  session_id: string;
  top_undo_id: string | null;
  fence: number | null;
  busy: boolean;
}

export interface DueSessions {
  /** How many sessions were looked at. */
  readonly looked: number;
  /** Those that wait for a child, or whose top entry waits for nobody and nothing: their wake-up call may be lost. */
  readonly wakeUps: readonly WakeUp[];
}

/** Unwinding sessions that have not ended by the time the sweep meant to look at them again. */
export async function takeDueSessions(database: Database, limit: number, nextLookMs: number): Promise<DueSessions> {
  const rows = await database.query<Row>({ name: 'take_due_sessions', text: TAKE, values: [limit, nextLookMs] });
  const wakeUps = rows
    .filter((row) => !row.busy)
    .map((row) => ({ orgId: row.org_id, sessionId: row.session_id, undoId: row.top_undo_id, fence: row.fence ?? 0 }));
  return { looked: rows.length, wakeUps };
}
