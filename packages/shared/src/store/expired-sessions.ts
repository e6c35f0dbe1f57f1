import type { Database } from './database.js';

const FIND = `
SELECT org_id, session_id FROM undolog_sessions
WHERE state = 'active' AND lease_expires_at IS NOT NULL AND lease_expires_at <= clock_timestamp()
ORDER BY lease_expires_at LIMIT $1`;

/** Active sessions whose lease has run out. Whether one fails is decided under its lock, by `failSession`. */
export async function findExpiredSessions(
  database: Database,
  limit: number,
): Promise<{ orgId: string; sessionId: string }[]> {
  const rows = await database.query<{ org_id: string; session_id: string }>({
    name: 'find_expired_sessions',
    text: FIND,
    values: [limit],
  });
  return rows.map((row) => ({ orgId: row.org_id, sessionId: row.session_id }));
}
