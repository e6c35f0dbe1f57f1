import type { Tx } from './database.js';

// The way in is the index of each org's newest sessions, entered from its other end: an index over the ends of sessions
// would be written by every renewal of a lease. No session ends before it was created, so what is too young there is too
// young here, and only what was opened long ago and has not ended is looked at in vain.
//
// A child stays as long as its parent does, which may still unwind it.
const DELETE = `
WITH old AS MATERIALIZED (
  SELECT s.* FROM undolog_orgs o CROSS JOIN LATERAL (
    SELECT org_id, session_id, created_at FROM undolog_sessions c
    WHERE org_id = o.org_id AND created_at < now() - $1 * interval '1 day'
      AND updated_at < now() - $1 * interval '1 day' AND state IN ('completed', 'compensated', 'resolved')
      AND NOT EXISTS (
        SELECT 1 FROM undolog_sessions p WHERE p.org_id = c.org_id AND p.session_id = c.parent_session_id)
    ORDER BY created_at, session_id LIMIT $2
    FOR UPDATE SKIP LOCKED
  ) s LIMIT $2
), sized AS (
  SELECT o.org_id, o.session_id, sum(e.effects) OVER (ORDER BY o.created_at, o.session_id, o.org_id) - e.effects AS before
  FROM old o CROSS JOIN LATERAL (
    SELECT count(*) AS effects FROM undolog_effect_log WHERE org_id = o.org_id AND session_id = o.session_id
  ) e
), item AS MATERIALIZED (
  SELECT org_id, session_id FROM sized WHERE before < $3
), undo AS (
  DELETE FROM undolog_undo_stack u USING item i WHERE u.org_id = i.org_id AND u.session_id = i.session_id
  RETURNING u.org_id, u.undo_id
), attempts AS (
  DELETE FROM undolog_attempts a USING undo u WHERE a.org_id = u.org_id AND a.undo_id = u.undo_id
), effects AS (
  DELETE FROM undolog_effect_log e USING item i WHERE e.org_id = i.org_id AND e.session_id = i.session_id
), letters AS (
  DELETE FROM undolog_dead_letters l USING item i WHERE l.org_id = i.org_id AND l.session_id = i.session_id
)
DELETE FROM undolog_sessions s USING item i WHERE s.org_id = i.org_id AND s.session_id = i.session_id RETURNING 1`;

/**
 * Deletes sessions that ended more than `days` ago, by the database's clock, with everything that belongs to them but the
 * audit log, which holds no arguments. Takes the oldest first, and stops at the first session beyond `limits.effects`.
 *
 * @returns how many are gone; 0 when none is left that nobody else holds.
 */
export async function deleteOldSessions(
  tx: Tx,
  days: number,
  limits: { readonly sessions: number; readonly effects: number },
): Promise<number> {
  const values = [days, limits.sessions, limits.effects];
  return (await tx.query({ name: 'delete_old_sessions', text: DELETE, values })).length;
}
