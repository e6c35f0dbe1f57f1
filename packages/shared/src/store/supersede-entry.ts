import type { Tx } from './database.js';

// The old row leaves the order before its successor takes the position: only one unsuperseded row may hold it.
const RETIRE = `
UPDATE undolog_undo_stack SET superseded_by = $3 WHERE org_id = $1 AND undo_id = $2 AND superseded_by IS NULL`;

const SUCCEED = `
WITH successor AS (
  INSERT INTO undolog_undo_stack (org_id, undo_id, session_id, effect_id, stack_position, generation, state,
    fn_name, version, args, needs_result, max_retries)
  SELECT org_id, $3, session_id, effect_id, stack_position, generation + 1, 'active',
    fn_name, version, args, needs_result, max_retries
  FROM undolog_undo_stack WHERE org_id = $1 AND undo_id = $2
  RETURNING effect_id
)
UPDATE undolog_effect_log e SET undo_id = $3
FROM successor s WHERE e.org_id = $1 AND e.effect_id = s.effect_id`;

/**
 * Replaces an entry by a new one at the same position, under a new undo id and so under a new idempotency key. The
 * caller holds the lock on the session's row, and no try of the old entry is in flight.
 */
export async function supersedeEntry(tx: Tx, orgId: string, undoId: string, successorId: string): Promise<void> {
  const values = [orgId, undoId, successorId];
  await tx.query({ name: 'retire_entry', text: RETIRE, values });
  await tx.query({ name: 'succeed_entry', text: SUCCEED, values });
}
