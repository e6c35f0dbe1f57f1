import type { JsonText } from '../domain/json-text.js';
import type { SessionState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import { advanceUnwind, endOf, FIRST_LOOK_AFTER, wakeUpOf, type Advanced, type Ended } from './advance-unwind.js';
import type { Tx } from './database.js';
import { toBytes } from './json-bytes.js';
import { lockSessions } from './lock-sessions.js';

/** What a person does about a halted session. */
export interface LetterAction {
  readonly deadLetterId: string;
  /** The version that the person has seen; null: whichever it is. */
  readonly ifVersion: number | null;
  /** The key's id. */
  readonly actor: string;
  /** JSON text of a string. */
  readonly reason: JsonText | null;
  /** A fresh id for the next dead letter, should the session halt again at once. */
  readonly nextLetterId: string;
}

export interface LetterRefusal {
  readonly outcome: 'letter_not_found' | 'dead_letter_closed' | 'dead_letter_changed';
}

export type ResumeResult = {
  readonly outcome: 'resumed';
  readonly sessionId: string;
  readonly state: SessionState;
  readonly wake: WakeUp | null;
  readonly ended: Ended | null;
};

/** A letter that is open, whose session is locked. */
export interface OpenLetter {
  readonly outcome: 'open';
  readonly sessionId: string;
}

interface Row {
  session_id: string;
  state: 'open' | 'closed';
  version: number;
}

/** Locks the session of a dead letter and says whether it may be acted on. Whatever changes a letter holds that lock. */
export async function takeDeadLetter(
  tx: Tx,
  orgId: string,
  action: Pick<LetterAction, 'deadLetterId' | 'ifVersion'>,
): Promise<OpenLetter | LetterRefusal> {
  const read = {
    name: 'take_dead_letter',
    text: 'SELECT session_id, state, version FROM undolog_dead_letters WHERE org_id = $1 AND dead_letter_id = $2',
    values: [orgId, action.deadLetterId],
  };
  const [found] = await tx.query<Row>(read);
  if (!found) return { outcome: 'letter_not_found' };
  await tx.query(lockSessions(orgId, [{ sessionId: found.session_id }]));
  const [letter] = await tx.query<Row>(read);
  if (letter?.state !== 'open') return { outcome: 'dead_letter_closed' };
  if (action.ifVersion !== null && action.ifVersion !== letter.version) return { outcome: 'dead_letter_changed' };
  return { outcome: 'open', sessionId: letter.session_id };
}

/** How a letter was closed, as its row says it. */
export type ClosedAs = 'retry' | 'skip' | 'resolve' | 'confirm';

// Of the halted session's entries the highest that is not settled is next. Is that one still broken, then its session
// halts again at once, under policy `halt`: what is above has to be mended first.
const RESUME = `
WITH closed AS (
  UPDATE undolog_dead_letters SET state = 'closed', closed_at = clock_timestamp(), closed_by = $4, closed_as = $5,
    closing_reason = $6, version = version + 1
  WHERE org_id = $1 AND dead_letter_id = $3 AND state = 'open'
), resumed AS (
  UPDATE undolog_sessions s SET state = 'compensating', wake_at = clock_timestamp() + ${FIRST_LOOK_AFTER},
    updated_at = clock_timestamp(), unwind_from = NULL, awaited_child_id = NULL,
    top_undo_id = CASE s.on_compensation_failure WHEN 'halt' THEN (
      SELECT highest.undo_id FROM (
        SELECT u.undo_id, u.state FROM undolog_undo_stack u
        WHERE u.org_id = s.org_id AND u.session_id = s.session_id AND u.superseded_by IS NULL
          AND u.state NOT IN ('compensated', 'skipped')
          AND (s.rollback_to IS NULL OR EXISTS (
            SELECT 1 FROM undolog_effect_log e WHERE e.org_id = u.org_id AND e.effect_id = u.effect_id AND e.rolled_back))
        ORDER BY u.stack_position DESC LIMIT 1) AS highest
      WHERE highest.state IN ('failed', 'unconfirmed')) END
  WHERE s.org_id = $1 AND s.session_id = $2 AND s.state = 'halted'
  RETURNING s.session_id
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
SELECT $1, a.actor, a.action, session_id, a.undo_id, a.reason
FROM resumed
CROSS JOIN LATERAL (VALUES
  (1, $4, 'dead_letter.' || $5, $7::uuid, $6::bytea),
  (2, 'undolog', 'session.compensating', NULL, NULL)) AS a (ordinal, actor, action, undo_id, reason)
ORDER BY a.ordinal`;

/** Closes the letter and lets its session go on; the caller has mended an entry of it, and holds the session's lock. */
export async function resumeSession(
  tx: Tx,
  orgId: string,
  { sessionId }: OpenLetter,
  action: LetterAction,
  done: { readonly as: ClosedAs; readonly undoId: string | null },
): Promise<ResumeResult> {
  const { deadLetterId, actor, nextLetterId } = action;
  const values = [orgId, sessionId, deadLetterId, actor, done.as, toBytes(action.reason), done.undoId];
  await tx.query({ name: 'resume_session', text: RESUME, values });
  const [advanced] = await tx.query<Advanced>(advanceUnwind(orgId, [sessionId], [nextLetterId]));
  const state = advanced?.state ?? 'compensating';
  return { outcome: 'resumed', sessionId, state, wake: wakeUpOf(orgId, advanced), ended: endOf(advanced) };
}
