import type { WakeUp } from '../domain/wake-up.js';
import type { Tx } from './database.js';

// The wake-up call that waits names the fence; with another one the new call is not taken for it.
const END_WAIT = `
UPDATE undolog_undo_stack u SET fence = u.fence + 1
FROM undolog_effect_log e JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
WHERE e.org_id = $1 AND e.effect_id = $2 AND s.state IN ('failed', 'compensating') AND s.top_undo_id = e.undo_id
  AND u.org_id = e.org_id AND u.undo_id = e.undo_id AND u.state IN ('pending', 'active')
RETURNING u.session_id, u.undo_id, u.fence`;

/**
 * An unwind waits for a call that may still land; a report about that call ends the wait. The caller holds the session's
 * lock. Null: nothing waited for this effect.
 */
export async function endWait(tx: Tx, orgId: string, effectId: string): Promise<WakeUp | null> {
  const [row] = await tx.query<{ session_id: string; undo_id: string; fence: number }>({
    name: 'end_wait',
    text: END_WAIT,
    values: [orgId, effectId],
  });
  return row ? { orgId, sessionId: row.session_id, undoId: row.undo_id, fence: row.fence } : null;
}
