import type { Statement } from './database.js';
import type { LockTarget } from './operation.js';

const TEXT = `
SELECT session_id FROM undolog_sessions
WHERE org_id = $1 AND session_id IN (
  SELECT unnest($2::text[])
  UNION
  SELECT e.session_id FROM undolog_effect_log e WHERE e.org_id = $1 AND e.effect_id = ANY ($3::uuid[])
)
ORDER BY session_id
FOR NO KEY UPDATE`;

/**
 * The first statement of every transaction that moves a state: registration, commit, complete, fail, cancel, expiry,
 * claim and settle serialise on the session's row. Rows are locked in the order of their ids, so that two transactions
 * over the same sessions can't deadlock; the statements that follow see what the previous holder committed.
 */
export function lockSessions(orgId: string, targets: readonly LockTarget[]): Statement {
  const sessionIds = targets.flatMap((target) => ('sessionId' in target ? [target.sessionId] : []));
  const effectIds = targets.flatMap((target) => ('effectId' in target ? [target.effectId] : []));
  return { name: 'lock_sessions', text: TEXT, values: [orgId, sessionIds, effectIds] };
}
