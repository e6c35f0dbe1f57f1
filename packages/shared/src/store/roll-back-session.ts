import type { SessionState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import { advanceUnwind, FIRST_LOOK_AFTER, wakeUpOf, type Advanced } from './advance-unwind.js';
import { wordBytes } from './json-bytes.js';
import { LEASE_EXPIRED } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';

/** SQL: a rollback of the session `s` is under way, or halted by a broken entry. */
export const ROLLING_BACK = `(s.rollback_to IS NOT NULL AND s.state IN ('compensating', 'halted'))`;

export interface RollBackSession {
  readonly sessionId: string;
  /** Entries above it are undone; -1: all. */
  readonly toPosition: number;
  /** The key's id. */
  readonly actor: string;
  /** A fresh id for the dead letter, should the session halt at once. */
  readonly deadLetterId: string;
}

export type RollBackResult =
  /** `active`: there was nothing above, and the session goes on. */
  | { readonly outcome: 'accepted'; readonly state: SessionState; readonly wake: WakeUp | null }
  | { readonly outcome: 'session_not_found' | 'session_not_active' };

// What is above is marked: a report of it is late for ever, also once the session is active again, and a rollback runs
// no entry without the mark.
const ROLL_BACK = `
WITH judged AS MATERIALIZED (
  SELECT s.org_id, s.session_id,
    CASE WHEN s.state = 'active' AND NOT ${LEASE_EXPIRED} THEN 'accepted' ELSE 'session_not_active' END AS outcome
  FROM undolog_sessions s WHERE s.org_id = $1 AND s.session_id = $2
), session AS (
  UPDATE undolog_sessions s SET state = 'compensating', rollback_to = $3, rolls_back_children = true, top_undo_id = NULL, unwind_from = NULL,
    lease_expires_at = NULL, wake_at = clock_timestamp() + ${FIRST_LOOK_AFTER}, updated_at = clock_timestamp()
  FROM judged j WHERE s.org_id = j.org_id AND s.session_id = j.session_id AND j.outcome = 'accepted'
), effect AS (
  UPDATE undolog_effect_log e SET rolled_back = true
  FROM judged j
  WHERE e.org_id = j.org_id AND e.session_id = j.session_id AND j.outcome = 'accepted'
    AND e.stack_position > $3 AND NOT e.rolled_back
), standing AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $6
  FROM judged j
  WHERE u.org_id = j.org_id AND u.session_id = j.session_id AND j.outcome = 'accepted'
    AND u.stack_position > $3 AND u.superseded_by IS NULL AND u.fn_name IS NULL AND u.state IN ('pending', 'active')
  RETURNING u.session_id, u.undo_id, u.stack_position
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, actor, action, session_id, undo_id, reason FROM (
    SELECT 4294967296 AS ordinal, $4 AS actor, 'session.rollback' AS action, session_id, NULL::uuid AS undo_id,
      $5::bytea AS reason
    FROM judged WHERE outcome = 'accepted'
    UNION ALL
    SELECT 4294967295, 'undolog', 'session.compensating', session_id, NULL, NULL FROM judged WHERE outcome = 'accepted'
    UNION ALL
    SELECT stack_position, 'undolog', 'undo.skipped', session_id, undo_id, $6 FROM standing
  ) AS entry
  ORDER BY ordinal DESC
)
SELECT outcome FROM judged`;

/** Undoes what an active session did above a position, after which it is active again. */
export const rollBackSession: Operation<RollBackSession, RollBackResult> = {
  name: 'roll_back_session',
  async run(tx, orgId, { sessionId, toPosition, actor, deadLetterId }) {
    await tx.query(lockSessions(orgId, [{ sessionId }]));
    const why = wordBytes(`to position ${toPosition}`);
    const [judged] = await tx.query<{ outcome: 'accepted' | 'session_not_active' }>({
      name: 'roll_back_session',
      text: ROLL_BACK,
      values: [orgId, sessionId, toPosition, actor, why, wordBytes('irreversible')],
    });
    if (judged?.outcome !== 'accepted') return { outcome: judged?.outcome ?? 'session_not_found' };
    const [advanced] = await tx.query<Advanced>(advanceUnwind(orgId, [sessionId], [deadLetterId]));
    return { outcome: 'accepted', state: advanced!.state, wake: wakeUpOf(orgId, advanced) };
  },
};
