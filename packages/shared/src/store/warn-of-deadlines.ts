import type { Database } from './database.js';
import { lockSessions } from './lock-sessions.js';

/** The share of the vendor's window after which somebody is told. */
const NEAR = 0.8;

/** SQL: an entry `u` of effect `e` that is not undone while the better part of its compensation's window `r` is over. */
const IS_NEAR = `u.superseded_by IS NULL AND NOT u.deadline_warned
  AND u.state IN ('pending', 'active', 'running', 'failed', 'unconfirmed')
  AND u.code IS DISTINCT FROM 'undo_deadline_passed'
  AND clock_timestamp() > coalesce(e.committed_at, e.executed_at) + r.undo_deadline_seconds * interval '1 second' * ${NEAR}`;

// It starts from the orgs that have a window at all, and from the partial indexes of what has not ended.
const FIND = `
WITH org AS MATERIALIZED (
  SELECT DISTINCT org_id FROM undolog_compensation_registry WHERE undo_deadline_seconds IS NOT NULL
), session AS MATERIALIZED (
  SELECT s.org_id, s.session_id FROM undolog_sessions s
  WHERE s.wake_at IS NOT NULL AND s.org_id IN (SELECT org_id FROM org)
  UNION ALL
  SELECT l.org_id, l.session_id FROM undolog_dead_letters l
  WHERE l.state = 'open' AND l.org_id IN (SELECT org_id FROM org)
)
SELECT n.org_id, array_agg(DISTINCT n.session_id) AS session_ids FROM (
  SELECT u.org_id, u.session_id FROM session s
  JOIN undolog_undo_stack u ON u.org_id = s.org_id AND u.session_id = s.session_id
  JOIN undolog_compensation_registry r ON r.org_id = u.org_id AND r.fn_name = u.fn_name AND r.version = u.version
  JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  WHERE ${IS_NEAR} LIMIT $1
) n
GROUP BY n.org_id`;

const WARN = `
WITH near AS MATERIALIZED (
  SELECT u.org_id, u.undo_id, u.session_id FROM undolog_undo_stack u
  JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
  JOIN undolog_compensation_registry r ON r.org_id = u.org_id AND r.fn_name = u.fn_name AND r.version = u.version
  JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  WHERE u.org_id = $1 AND u.session_id = ANY ($2::text[]) AND s.state IN ('failed', 'compensating', 'halted') AND ${IS_NEAR}
), warned AS (
  UPDATE undolog_undo_stack u SET deadline_warned = true
  FROM near n WHERE u.org_id = n.org_id AND u.undo_id = n.undo_id
  RETURNING u.session_id, u.undo_id
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
SELECT $1, 'undolog', 'undo.deadline_near', session_id, undo_id FROM warned ORDER BY undo_id
RETURNING undo_id`;

/**
 * Notes in the audit log, once each, the entries of unwinding and halted sessions that the vendor will soon undo no more.
 *
 * @param limit how many are looked for at once; the others wait for the next look.
 * @returns how many there were.
 */
export async function warnOfDeadlines(database: Database, limit: number): Promise<number> {
  const found = await database.query<{ org_id: string; session_ids: string[] }>({ text: FIND, values: [limit] });
  let warned = 0;
  for (const { org_id: orgId, session_ids: sessionIds } of found) {
    const rows = await database.transaction(async (tx) => {
      await tx.query(
        lockSessions(
          orgId,
          sessionIds.map((sessionId) => ({ sessionId })),
        ),
      );
      return tx.query({ text: WARN, values: [orgId, sessionIds] });
    });
    warned += rows.length;
  }
  return warned;
}
