import type { SessionState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import { abandonRollback, type SessionFailure } from './abandon-rollback.js';
import { advanceUnwind, FIRST_LOOK_AFTER, wakeUpOf, type Advanced } from './advance-unwind.js';
import type { Statement, Tx } from './database.js';
import { toBytes, wordBytes } from './json-bytes.js';
import { EXPIRY_REASON, LEASE_EXPIRED } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { ROLLING_BACK } from './roll-back-session.js';

export interface FailSession extends SessionFailure {
  /** A fresh id for the dead letter, should the session halt at once. */
  readonly deadLetterId: string;
}

export type FailSessionResult =
  | { readonly outcome: 'accepted'; readonly state: SessionState; readonly wake: WakeUp | null }
  | { readonly outcome: 'session_not_found' | 'session_completed' | 'unknown_effect' | 'not_expired' };

// A session whose lease ran out before the report came has failed by expiry, swept or not.
const FAIL = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::text[], $3::bytea[], $4::text[], $5::uuid[], $6::text[])
    AS i (session_id, reason, kind, effect_id, actor)
), judged AS MATERIALIZED (
  SELECT i.*, s.state, ${LEASE_EXPIRED} AS expired, ${EXPIRY_REASON} AS expiry_reason,
    CASE
      WHEN s.session_id IS NULL THEN 'session_not_found'
      WHEN s.state = 'completed' THEN 'session_completed'
      WHEN i.effect_id IS NOT NULL AND e.effect_id IS NULL THEN 'unknown_effect'
      WHEN i.kind = 'lease_expired' AND NOT (s.state = 'active' AND ${LEASE_EXPIRED}) THEN 'not_expired'
      WHEN ${ROLLING_BACK} THEN 'rolling_back'
      ELSE 'accepted' END AS outcome
  FROM item i
  LEFT JOIN undolog_sessions s ON s.org_id = i.org_id AND s.session_id = i.session_id
  LEFT JOIN undolog_effect_log e
    ON e.org_id = i.org_id AND e.effect_id = i.effect_id AND e.session_id = i.session_id
), failed AS (
  UPDATE undolog_sessions s SET
    state = 'failed',
    failure_kind = CASE WHEN j.expired THEN 'lease_expired' ELSE j.kind END,
    failure_reason = CASE WHEN j.expired THEN convert_to(to_json(j.expiry_reason)::text, 'UTF8') ELSE j.reason END,
    failure_effect_id = CASE WHEN j.expired THEN NULL ELSE j.effect_id END,
    failed_at = clock_timestamp(), updated_at = clock_timestamp(),
    lease_expires_at = NULL,
    wake_at = clock_timestamp() + ${FIRST_LOOK_AFTER}
  FROM judged j
  WHERE s.org_id = j.org_id AND s.session_id = j.session_id AND j.outcome = 'accepted' AND j.state = 'active'
  RETURNING s.org_id, s.session_id, s.failure_kind, s.failure_reason, j.actor
), standing AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $7
  FROM failed f
  WHERE u.org_id = f.org_id AND u.session_id = f.session_id AND u.superseded_by IS NULL
    AND u.fn_name IS NULL AND u.state IN ('pending', 'active')
  RETURNING u.session_id, u.undo_id, u.stack_position
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, actor, action, session_id, undo_id, reason FROM (
    SELECT f.session_id, NULL::uuid AS undo_id, 2147483648 AS ordinal,
      CASE WHEN f.failure_kind = 'lease_expired' THEN 'undolog' ELSE f.actor END AS actor,
      'session.failed' AS action, f.failure_reason AS reason
    FROM failed f
    UNION ALL
    SELECT session_id, undo_id, stack_position, 'undolog', 'undo.skipped', $7 FROM standing
  ) AS entry
  ORDER BY session_id, ordinal DESC
)
SELECT session_id, outcome, CASE state WHEN 'active' THEN 'failed' ELSE state END AS state FROM judged`;

interface Judged {
  session_id: string;
  outcome: FailSessionResult['outcome'] | 'rolling_back';
  state: SessionState;
}

function statements(orgId: string, inputs: readonly FailSession[]): Statement[] {
  const sessionIds = inputs.map((input) => input.sessionId);
  const fail: Statement = {
    name: 'fail_session',
    text: FAIL,
    values: [
      orgId,
      sessionIds,
      inputs.map((input) => toBytes(input.reason)),
      inputs.map((input) => input.kind),
      inputs.map((input) => input.effectId),
      inputs.map((input) => input.actor),
      wordBytes('irreversible'),
    ],
  };
  return [
    fail,
    advanceUnwind(
      orgId,
      sessionIds,
      inputs.map((input) => input.deadLetterId),
    ),
  ];
}

function toResult(orgId: string, judged: Judged, advanced: Advanced | undefined): FailSessionResult {
  switch (judged.outcome) {
    case 'accepted':
    case 'rolling_back':
      return { outcome: 'accepted', state: advanced?.state ?? judged.state, wake: wakeUpOf(orgId, advanced) };
    case 'session_not_found':
    case 'session_completed':
    case 'unknown_effect':
    case 'not_expired':
      return { outcome: judged.outcome };
    default:
      return judged.outcome satisfies never;
  }
}

/**
 * Ends an active session without success and chooses the first entry to undo. A rollback that is under way becomes a
 * full unwind. Asking again, in any state but `completed`, changes nothing: the first reason stays.
 */
export const failSession: Operation<FailSession, FailSessionResult> = {
  name: 'fail_session',
  async run(tx: Tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    const [fail, advance] = statements(orgId, [input]);
    const [judged] = await tx.query<Judged>(fail!);
    if (judged!.outcome === 'rolling_back') await tx.query(abandonRollback(orgId, input));
    const [advanced] = await tx.query<Advanced>(advance!);
    return toResult(orgId, judged!, advanced);
  },
  batch: {
    key: (input) => input.sessionId,
    lock: (input) => input,
    statements,
    read([judged, advanced], inputs, orgId) {
      const outcomes = new Map((judged as Judged[]).map((row) => [row.session_id, row]));
      const moves = new Map((advanced as Advanced[]).map((row) => [row.session_id, row]));
      return inputs.map((input) => {
        const row = outcomes.get(input.sessionId)!;
        return row.outcome === 'rolling_back' ? 'alone' : toResult(orgId, row, moves.get(input.sessionId));
      });
    },
  },
};
