import type { FailureKind } from '../domain/failure.js';
import type { JsonText } from '../domain/json-text.js';
import type { Statement } from './database.js';
import { toBytes, wordBytes } from './json-bytes.js';

export interface SessionFailure {
  readonly sessionId: string;
  /** JSON text of a string. Of no use to `lease_expired`, whose reason is the clock that ran out. */
  readonly reason: JsonText | null;
  readonly kind: FailureKind;
  readonly effectId: string | null;
  /** Who asked: a key's id, or `undolog`. */
  readonly actor: string;
}

// A try that is in flight is left to end; the highest entry that waits is next. Under `halt` a broken entry goes on
// holding the session, until a person acts. Under `continue` the rest has become a matter of this unwind.
const ABANDON = `
WITH before AS MATERIALIZED (
  SELECT s.org_id, s.session_id, t.undo_id AS top_in_flight,
    s.state = 'halted' AND s.on_compensation_failure = 'continue' AS resumes
  FROM undolog_sessions s
  LEFT JOIN undolog_undo_stack t ON t.org_id = s.org_id AND t.undo_id = s.top_undo_id AND t.claimed_until IS NOT NULL
  WHERE s.org_id = $1 AND s.session_id = $2
), abandoned AS (
  UPDATE undolog_sessions s SET
    state = CASE WHEN b.resumes THEN 'compensating' ELSE s.state END,
    rollback_to = NULL, unwind_from = NULL, top_undo_id = b.top_in_flight, awaited_child_id = NULL,
    failure_reason = $3, failure_kind = $4, failure_effect_id = $5, failed_at = clock_timestamp(),
    wake_at = CASE WHEN b.resumes THEN clock_timestamp() ELSE s.wake_at END, updated_at = clock_timestamp()
  FROM before b WHERE s.org_id = b.org_id AND s.session_id = b.session_id
), letter AS (
  UPDATE undolog_dead_letters d SET state = 'closed', closed_at = clock_timestamp(), closed_by = $6,
    closed_as = 'rollback_abandoned', version = version + 1
  FROM before b WHERE b.resumes AND d.org_id = b.org_id AND d.session_id = b.session_id AND d.state = 'open'
), standing AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $7
  FROM before b
  WHERE u.org_id = b.org_id AND u.session_id = b.session_id AND u.superseded_by IS NULL
    AND u.fn_name IS NULL AND u.state IN ('pending', 'active')
  RETURNING u.session_id, u.undo_id, u.stack_position
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
SELECT $1, actor, action, session_id, undo_id, reason FROM (
  SELECT 4294967296 AS ordinal, $6 AS actor, 'session.rollback_abandoned' AS action, session_id, NULL::uuid AS undo_id,
    $3::bytea AS reason
  FROM before
  UNION ALL
  SELECT 4294967295, 'undolog', 'session.compensating', session_id, NULL, NULL FROM before WHERE resumes
  UNION ALL
  SELECT stack_position, 'undolog', 'undo.skipped', session_id, undo_id, $7 FROM standing
) AS entry
ORDER BY ordinal DESC`;

/** Turns a rollback that is under way, or halted, into the unwind of the whole session. The caller holds its lock. */
export function abandonRollback(orgId: string, input: SessionFailure): Statement {
  const { sessionId, reason, kind, effectId, actor } = input;
  const values = [orgId, sessionId, toBytes(reason), kind, effectId, actor, wordBytes('irreversible')];
  return { name: 'abandon_rollback', text: ABANDON, values };
}
