import type { JsonText } from '../domain/json-text.js';
import { toBytes } from './json-bytes.js';
import type { Operation } from './operation.js';
import {
  resumeSession,
  takeDeadLetter,
  type LetterAction,
  type LetterRefusal,
  type ResumeResult,
} from './take-dead-letter.js';

export interface SkipDeadLetter extends LetterAction {
  readonly reason: JsonText;
  /** An entry that is not settled; null: the highest broken one. */
  readonly undoId: string | null;
}

export type SkipResult = ResumeResult | LetterRefusal | { readonly outcome: 'unknown_undo' };

// Nothing was undone, so the effect stays as it is and is shown as standing, for the person's reason.
const SKIP = `
WITH chosen AS (
  SELECT u.undo_id FROM undolog_undo_stack u
  JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
  WHERE u.org_id = $1 AND u.session_id = $2 AND u.superseded_by IS NULL
    AND (u.undo_id = $3 AND u.state NOT IN ('compensated', 'skipped')
      OR $3::uuid IS NULL AND u.state IN ('failed', 'unconfirmed'))
    AND (s.rollback_to IS NULL OR e.rolled_back)
  ORDER BY u.stack_position DESC LIMIT 1
), skipped AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $4, code = NULL, next_attempt_at = NULL,
    confirm_until = NULL, confirm_url = NULL
  FROM chosen c WHERE u.org_id = $1 AND u.undo_id = c.undo_id
  RETURNING u.session_id, u.undo_id
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, $5, 'undo.skipped', session_id, undo_id, $4 FROM skipped
)
SELECT undo_id FROM skipped`;

/** Leaves an effect as it stands, because a person says so, and lets the unwind go on. */
export const skipDeadLetter: Operation<SkipDeadLetter, SkipResult> = {
  name: 'skip_dead_letter',
  async run(tx, orgId, input) {
    const letter = await takeDeadLetter(tx, orgId, input);
    if (letter.outcome !== 'open') return letter;
    const values = [orgId, letter.sessionId, input.undoId, toBytes(input.reason), input.actor];
    const [skipped] = await tx.query<{ undo_id: string }>({ name: 'skip_entry', text: SKIP, values });
    if (!skipped) return { outcome: 'unknown_undo' };
    return resumeSession(tx, orgId, letter, input, { as: 'skip', undoId: skipped.undo_id });
  },
};
