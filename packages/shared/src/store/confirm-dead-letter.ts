import type { Operation } from './operation.js';
import {
  resumeSession,
  takeDeadLetter,
  type LetterAction,
  type LetterRefusal,
  type ResumeResult,
} from './take-dead-letter.js';

export interface ConfirmDeadLetter extends LetterAction {
  /** The entry that the vendor's record shows as undone. */
  readonly undoId: string;
}

export type ConfirmResult = ResumeResult | LetterRefusal;

const CONFIRM = `
WITH confirmed AS (
  UPDATE undolog_undo_stack SET state = 'compensated', proof = 'confirmed', compensated_at = clock_timestamp(), code = NULL
  WHERE org_id = $1 AND undo_id = $2 AND superseded_by IS NULL AND state IN ('failed', 'unconfirmed')
  RETURNING session_id, undo_id, effect_id
), effect AS (
  UPDATE undolog_effect_log e SET state = 'compensated'
  FROM confirmed c WHERE e.org_id = $1 AND e.effect_id = c.effect_id
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
SELECT $1, $3, 'undo.compensated', session_id, undo_id FROM confirmed
RETURNING undo_id`;

/**
 * Takes the word of the vendor's record, which a person had asked, that an entry is undone after all. The session is
 * halted, so no try of the entry can be under way.
 */
export const confirmDeadLetter: Operation<ConfirmDeadLetter, ConfirmResult> = {
  name: 'confirm_dead_letter',
  async run(tx, orgId, input) {
    const letter = await takeDeadLetter(tx, orgId, input);
    if (letter.outcome !== 'open') return letter;
    const values = [orgId, input.undoId, input.actor];
    const confirmed = await tx.query({ name: 'confirm_entry', text: CONFIRM, values });
    if (confirmed.length === 0) return { outcome: 'dead_letter_changed' };
    return resumeSession(tx, orgId, letter, input, { as: 'confirm', undoId: input.undoId });
  },
};
