import { LEASE_EXPIRED } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';

export interface CompleteSession {
  readonly sessionId: string;
  /** Effects that were reported as unknown no longer stand in the way; they are listed as standing. */
  readonly leaveUnknown: boolean;
  readonly actor: string;
}

export interface CompleteResult {
  readonly outcome: 'completed' | 'effects_in_flight' | 'session_not_active' | 'session_not_found';
}

// The entries stay as they are: nothing runs them once their session has succeeded.
const COMPLETE = `
WITH judged AS (
  SELECT s.session_id, s.state, CASE
    WHEN s.state = 'completed' THEN 'completed'
    WHEN s.state <> 'active' OR ${LEASE_EXPIRED} THEN 'session_not_active'
    WHEN EXISTS (
      SELECT 1 FROM undolog_effect_log e WHERE e.org_id = $1 AND e.session_id = $2
        AND e.state IN ('pending', 'executing') AND NOT e.rolled_back AND NOT ($3 AND e.reported IS NOT DISTINCT FROM 'unknown')
    ) THEN 'effects_in_flight'
    ELSE 'complete' END AS outcome
  FROM undolog_sessions s WHERE s.org_id = $1 AND s.session_id = $2
), completed AS (
  UPDATE undolog_sessions s SET state = 'completed', lease_expires_at = NULL, updated_at = clock_timestamp()
  FROM judged j WHERE s.org_id = $1 AND s.session_id = j.session_id AND j.outcome = 'complete'
  RETURNING s.session_id
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id)
  SELECT $1, $4, 'session.completed', session_id FROM completed
)
SELECT CASE outcome WHEN 'complete' THEN 'completed' ELSE outcome END AS outcome FROM judged`;

/** Ends an active session with success. */
export const completeSession: Operation<CompleteSession, CompleteResult> = {
  name: 'complete_session',
  async run(tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    const [row] = await tx.query<CompleteResult>({
      name: 'complete_session',
      text: COMPLETE,
      values: [orgId, input.sessionId, input.leaveUnknown, input.actor],
    });
    return row ?? { outcome: 'session_not_found' };
  },
};
