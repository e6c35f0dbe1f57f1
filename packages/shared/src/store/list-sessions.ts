import type { SessionState } from '../domain/states.js';
import type { Tx } from './database.js';
import { sessionQuery, sessionView, type SessionRow, type SessionView } from './read-session.js';

export interface SessionFilter {
  readonly state?: SessionState | undefined;
  readonly agentName?: string | undefined;
  readonly limit: number;
  /** The last session of the page before: only older ones follow. */
  readonly after?: { readonly createdAt: string; readonly sessionId: string } | undefined;
}

const PAGE = `(s.org_id, s.session_id) IN (
  SELECT p.org_id, p.session_id FROM undolog_sessions p
  WHERE p.org_id = $1
    AND ($2::text IS NULL OR p.state = $2)
    AND ($3::text IS NULL OR p.agent_name = $3)
    AND ($4::timestamptz IS NULL OR (p.created_at, p.session_id) < ($4, $5::text))
  ORDER BY p.created_at DESC, p.session_id DESC LIMIT $6
)
ORDER BY s.created_at DESC, s.session_id DESC`;

/** A page of the org's sessions, newest first, by keyset. */
export async function listSessions(tx: Tx, orgId: string, filter: SessionFilter): Promise<SessionView[]> {
  const rows = await tx.query<SessionRow>({
    name: 'list_sessions',
    text: sessionQuery(PAGE),
    values: [
      orgId,
      filter.state ?? null,
      filter.agentName ?? null,
      filter.after?.createdAt ?? null,
      filter.after?.sessionId ?? null,
      filter.limit,
    ],
  });
  return rows.map(sessionView);
}
