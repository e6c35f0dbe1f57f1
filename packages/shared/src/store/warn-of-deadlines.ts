import type { Database } from './database.js';
import { lockSessions } from './lock-sessions.js';

/** The share of the vendor's window after which somebody is told. */
const NEAR = 0.8;

/**
 * SQL: the entries `u` of a session `s` that are not undone while the better part of their vendor's window is over. Each
 * part is looked up by its own key, whatever the planner makes of the sizes of the tables.
 */
const NEAR_ENTRIES = `
  CROSS JOIN LATERAL (
    SELECT u.undo_id, u.effect_id, u.fn_name, u.version FROM undolog_undo_stack u
    WHERE u.session_id = s.session_id AND u.org_id = s.org_id AND u.superseded_by IS NULL AND NOT u.deadline_warned
      AND u.state IN ('pending', 'active', 'running', 'failed', 'unconfirmed')
      AND u.code IS DISTINCT FROM 'undo_deadline_passed' OFFSET 0
  ) u
  CROSS JOIN LATERAL (
    SELECT r.undo_deadline_seconds * interval '1 second' AS length FROM undolog_compensation_registry r
    WHERE r.org_id = s.org_id AND r.fn_name = u.fn_name AND r.version = u.version
      AND r.undo_deadline_seconds IS NOT NULL OFFSET 0
  ) open_for
  CROSS JOIN LATERAL (
    SELECT coalesce(e.committed_at, e.executed_at) AS since FROM undolog_effect_log e
    WHERE e.effect_id = u.effect_id AND e.org_id = s.org_id OFFSET 0
  ) effect
  WHERE clock_timestamp() > effect.since + open_for.length * ${NEAR}`;

// It starts from the partial indexes of what has not ended, and from the orgs that have a window at all.
const FIND = `
WITH org AS MATERIALIZED (
  SELECT DISTINCT org_id FROM undolog_compensation_registry WHERE undo_deadline_seconds IS NOT NULL
), session AS MATERIALIZED (
  SELECT org_id, session_id FROM undolog_sessions WHERE wake_at > '-infinity' AND EXISTS (SELECT FROM org)
  UNION ALL
  SELECT org_id, session_id FROM undolog_dead_letters WHERE state = 'open' AND EXISTS (SELECT FROM org)
)
SELECT n.org_id, array_agg(DISTINCT n.session_id) AS session_ids FROM (
  SELECT s.org_id, s.session_id
  FROM (SELECT * FROM session WHERE org_id IN (SELECT org_id FROM org)) s
  ${NEAR_ENTRIES}
  LIMIT $1
) n
GROUP BY n.org_id`;

const WARN = `
WITH session AS MATERIALIZED (
  SELECT s.org_id, s.session_id FROM unnest($2::text[]) AS i (session_id)
  CROSS JOIN LATERAL (
    SELECT s.org_id, s.session_id, s.state FROM undolog_sessions s
    WHERE s.session_id = i.session_id AND s.org_id = $1 OFFSET 0
  ) s
  WHERE s.state IN ('failed', 'compensating', 'halted')
), near AS MATERIALIZED (
  SELECT s.org_id, u.undo_id
  FROM session s
  ${NEAR_ENTRIES}
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
