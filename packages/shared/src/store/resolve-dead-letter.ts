import type { JsonText } from '../domain/json-text.js';
import type { WakeUp } from '../domain/wake-up.js';
import { toBytes, wordBytes } from './json-bytes.js';
import type { Operation } from './operation.js';
import { takeDeadLetter, type LetterAction, type LetterRefusal } from './take-dead-letter.js';

export interface ResolveDeadLetter extends Omit<LetterAction, 'nextLetterId'> {
  readonly reason: JsonText;
  /** Where it can be seen that things are right: a ticket, a receipt. Any JSON. */
  readonly evidence: JsonText | null;
}

export type ResolveResult =
  LetterRefusal | { readonly outcome: 'resolved'; readonly sessionId: string; readonly wake: WakeUp | null };

const RESOLVE = `
WITH closed AS (
  UPDATE undolog_dead_letters SET state = 'closed', closed_at = clock_timestamp(), closed_by = $4,
    closed_as = 'resolve', closing_reason = $5, evidence = $6, version = version + 1
  WHERE org_id = $1 AND dead_letter_id = $3 AND state = 'open'
), resolved AS (
  UPDATE undolog_sessions SET state = 'resolved', unwind_from = NULL, updated_at = clock_timestamp()
  WHERE org_id = $1 AND session_id = $2 AND state = 'halted'
  RETURNING session_id, parent_session_id
), skipped AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $7, code = NULL, next_attempt_at = NULL,
    confirm_until = NULL, confirm_url = NULL
  FROM resolved r
  WHERE u.org_id = $1 AND u.session_id = r.session_id AND u.superseded_by IS NULL
    AND u.state IN ('pending', 'active', 'running')
  RETURNING u.session_id, u.undo_id, u.stack_position
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, actor, action, session_id, undo_id, reason FROM (
    SELECT 4294967296 AS ordinal, $4 AS actor, 'dead_letter.resolve' AS action, session_id, NULL::uuid AS undo_id,
      $5::bytea AS reason
    FROM resolved
    UNION ALL
    SELECT stack_position, 'undolog', 'undo.skipped', session_id, undo_id, $7 FROM skipped
    UNION ALL
    SELECT -1, 'undolog', 'session.resolved', session_id, NULL, NULL FROM resolved
  ) AS entry
  ORDER BY ordinal DESC
)
SELECT session_id, parent_session_id FROM resolved`;

/** Ends a halted session because a person has seen to it: nothing more is called, and broken entries stay as they are. */
export const resolveDeadLetter: Operation<ResolveDeadLetter, ResolveResult> = {
  name: 'resolve_dead_letter',
  async run(tx, orgId, input) {
    const letter = await takeDeadLetter(tx, orgId, input);
    if (letter.outcome !== 'open') return letter;
    const { deadLetterId, actor, reason, evidence } = input;
    const [resolved] = await tx.query<{ session_id: string; parent_session_id: string | null }>({
      name: 'resolve_session',
      text: RESOLVE,
      values: [orgId, letter.sessionId, deadLetterId, actor, toBytes(reason), toBytes(evidence), wordBytes('resolved')],
    });
    // A parent that awaits this child goes on without it; one that has halted because of it waits for a person.
    const parentId = resolved!.parent_session_id;
    const wake = parentId === null ? null : { orgId, sessionId: parentId, undoId: null, fence: 0 };
    return { outcome: 'resolved', sessionId: letter.sessionId, wake };
  },
};
