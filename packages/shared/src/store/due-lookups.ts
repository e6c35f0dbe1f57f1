import type { WakeUp } from '../domain/wake-up.js';
import type { Database } from './database.js';

// A look that is over in some other way, by a report or the end of its session, is forgotten here: what ends it need
// not know of it.
const TAKE = `
WITH due AS (
  SELECT org_id, undo_id, session_id, state FROM undolog_undo_stack
  WHERE look_at <= clock_timestamp() - $2 * interval '1 millisecond'
  ORDER BY look_at LIMIT $1
  FOR NO KEY UPDATE SKIP LOCKED
), judged AS MATERIALIZED (
  SELECT d.*, d.state = 'pending' AND s.state = 'active' AS is_open
  FROM due d JOIN undolog_sessions s ON s.org_id = d.org_id AND s.session_id = d.session_id
), over AS (
  UPDATE undolog_undo_stack u SET look_at = NULL
  FROM judged j WHERE u.org_id = j.org_id AND u.undo_id = j.undo_id AND NOT j.is_open
)
SELECT org_id, session_id, undo_id FROM judged WHERE is_open`;

interface Row {
  org_id: string;
  session_id: string;
  undo_id: string;
}

/** Looks for effects that nobody took up for `overdueMs`: their wake-up call may be lost. */
export async function takeDueLookups(database: Database, limit: number, overdueMs: number): Promise<WakeUp[]> {
  const rows = await database.query<Row>({ name: 'take_due_lookups', text: TAKE, values: [limit, overdueMs] });
  return rows.map(({ org_id: orgId, session_id: sessionId, undo_id: undoId }) => {
    return { orgId, sessionId, undoId, fence: 0, task: 'lookup' };
  });
}
