import type { Statement } from './database.js';
import type { LockTarget } from './operation.js';

const TEXT = `
WITH effect AS MATERIALIZED (
  SELECT $1::uuid AS org_id, unnest($3::uuid[]) AS effect_id
), target AS MATERIALIZED (
  SELECT $1::uuid AS org_id, unnest($2::text[]) AS session_id
  UNION
  SELECT e.org_id, e.session_id
  FROM effect i JOIN undolog_effect_log e ON e.org_id = i.org_id AND e.effect_id = i.effect_id
)
SELECT s.session_id
FROM target t JOIN undolog_sessions s ON s.org_id = t.org_id AND s.session_id = t.session_id
ORDER BY s.session_id
FOR NO KEY UPDATE OF s`;

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
