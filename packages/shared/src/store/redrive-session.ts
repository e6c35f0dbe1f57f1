import type { Tx } from './database.js';
import { lockSessions } from './lock-sessions.js';

const RENEW = `
UPDATE undolog_undo_stack u SET state = 'running', code = NULL, round_attempts = 0, answer_hash = NULL
FROM undolog_sessions s
WHERE s.org_id = $1 AND s.session_id = $2 AND s.state = 'halted'
  AND u.org_id = $1 AND u.session_id = $2 AND u.superseded_by IS NULL AND u.state IN ('failed', 'unconfirmed')`;

const CLOSE = `
UPDATE undolog_dead_letters SET state = 'closed', closed_at = clock_timestamp()
WHERE org_id = $1 AND session_id = $2 AND state = 'open'`;

const RESUME = `
WITH resumed AS (
  UPDATE undolog_sessions SET state = 'compensating', wake_at = clock_timestamp(), updated_at = clock_timestamp(),
    unwind_from = NULL,
    top_undo_id = CASE WHEN NOT has_children THEN (
      SELECT undo_id FROM undolog_undo_stack
      WHERE org_id = $1 AND session_id = $2 AND superseded_by IS NULL AND state IN ('pending', 'active', 'running')
        AND (rollback_to IS NULL OR EXISTS (
          SELECT 1 FROM undolog_effect_log e WHERE e.org_id = $1 AND e.effect_id = undolog_undo_stack.effect_id
            AND e.rolled_back))
      ORDER BY stack_position DESC LIMIT 1) END
  WHERE org_id = $1 AND session_id = $2 AND state = 'halted'
  RETURNING session_id, top_undo_id
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
  SELECT $1, $3, 'dead_letter.retry', session_id, top_undo_id FROM resumed
)
SELECT session_id FROM resumed`;

/**
 * Gives every broken entry of a halted session a fresh budget, its attempts kept, and lets the unwind go on from the
 * highest. The sweep wakes a worker for it.
 *
 * @returns false when the session is not halted.
 */
export async function redriveSession(tx: Tx, orgId: string, sessionId: string, actor: string): Promise<boolean> {
  await tx.query(lockSessions(orgId, [{ sessionId }]));
  await tx.query({ name: 'redrive_renew', text: RENEW, values: [orgId, sessionId] });
  await tx.query({ name: 'redrive_close', text: CLOSE, values: [orgId, sessionId] });
  const resumed = await tx.query({ name: 'redrive_resume', text: RESUME, values: [orgId, sessionId, actor] });
  return resumed.length > 0;
}
