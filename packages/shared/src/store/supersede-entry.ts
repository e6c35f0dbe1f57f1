import type { Tx } from './database.js';

// The old row leaves the order before its successor takes the position: only one unsuperseded row may hold it.
const RETIRE = `
UPDATE undolog_undo_stack SET superseded_by = $3 WHERE org_id = $1 AND undo_id = $2 AND superseded_by IS NULL`;

// Nobody has reported the effect of an entry that is still `pending`; what a lookup has found for it stays true.
const SUCCEED = `
WITH successor AS (
  INSERT INTO undolog_undo_stack (org_id, undo_id, session_id, effect_id, stack_position, generation, state,
    fn_name, version, args, needs_result, max_retries, found_result)
  SELECT u.org_id, $3, u.session_id, u.effect_id, u.stack_position, u.generation + 1,
    CASE WHEN e.committed_at IS NULL THEN 'pending' ELSE 'active' END,
    u.fn_name, coalesce($4, u.version), coalesce($5, u.args), coalesce($6, u.needs_result), coalesce($7, u.max_retries),
    CASE WHEN e.committed_at IS NULL THEN u.found_result END
  FROM undolog_undo_stack u JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  WHERE u.org_id = $1 AND u.undo_id = $2
  RETURNING effect_id
)
UPDATE undolog_effect_log e SET undo_id = $3
FROM successor s WHERE e.org_id = $1 AND e.effect_id = s.effect_id`;

/** What a person has changed of an entry. */
export interface Correction {
  readonly version: string;
  readonly maxRetries: number;
  /** Null: they stay. */
  readonly args: { readonly sealed: Uint8Array; readonly needsResult: boolean } | null;
}

/**
 * Replaces an entry by a new one at the same position, under a new undo id and so under a new idempotency key. The
 * caller holds the lock on the session's row, and no try of the old entry is in flight.
 */
export async function supersedeEntry(
  tx: Tx,
  orgId: string,
  undoId: string,
  successorId: string,
  correction?: Correction,
): Promise<void> {
  await tx.query({ name: 'retire_entry', text: RETIRE, values: [orgId, undoId, successorId] });
  const { version = null, args = null, maxRetries = null } = correction ?? {};
  const changed = [version, args?.sealed ?? null, args?.needsResult ?? null, maxRetries];
  await tx.query({ name: 'succeed_entry', text: SUCCEED, values: [orgId, undoId, successorId, ...changed] });
}
