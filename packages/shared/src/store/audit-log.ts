import type { JsonText } from '../domain/json-text.js';
import type { Role } from '../domain/roles.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';

export interface AuditEntryView {
  readonly seq: number;
  readonly at: string;
  /** A key's id, or `undolog`. */
  readonly actor: string;
  readonly actor_name: string | null;
  readonly actor_role: Role | null;
  readonly action: string;
  readonly session_id: string | null;
  readonly undo_id: string | null;
  readonly fn_name: string | null;
  /** Of the session or entry that it moved: the state that was told of it before, and the one that it has since. */
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: JsonText | null;
  /** The reason was there, and its words were taken away. */
  readonly reason_erased: boolean;
}

/** All that is given must hold. */
export interface AuditFilter {
  readonly sessionId?: string | undefined;
  readonly undoId?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly limit: number;
  /** Entries before this number follow: newest first. */
  readonly before?: number | undefined;
}

/** Actions that are the new state of what they tell of. */
const MOVE = `^(session\\.(completed|failed|compensating|compensated|halted|active|resolved)|undo\\.(compensated|failed|unconfirmed|skipped))$`;

const PAGE = `
SELECT a.seq, a.at, a.actor, k.name AS actor_name, k.role AS actor_role, a.action, a.session_id, a.undo_id, a.fn_name, a.reason,
  a.erased_reason_hash IS NOT NULL AS reason_erased, split_part(b.action, '.', 2) AS before,
  CASE WHEN a.action ~ '${MOVE}' THEN split_part(a.action, '.', 2) END AS after
FROM undolog_audit_log a
LEFT JOIN undolog_api_keys k ON k.org_id = a.org_id AND k.key_id::text = a.actor
LEFT JOIN LATERAL (
  (SELECT p.action FROM undolog_audit_log p
  WHERE a.action LIKE 'session.%' AND p.org_id = a.org_id AND p.session_id = a.session_id AND p.seq < a.seq
    AND p.action LIKE 'session.%' AND p.action ~ '${MOVE}'
  ORDER BY p.seq DESC LIMIT 1)
  UNION ALL
  (SELECT p.action FROM undolog_audit_log p
  WHERE a.action LIKE 'undo.%' AND p.org_id = a.org_id AND p.undo_id = a.undo_id AND p.seq < a.seq
    AND p.action LIKE 'undo.%' AND p.action ~ '${MOVE}'
  ORDER BY p.seq DESC LIMIT 1)
) b ON a.action ~ '${MOVE}'
WHERE a.org_id = $1
  AND ($2::text IS NULL OR a.session_id = $2) AND ($3::uuid IS NULL OR a.undo_id = $3)
  AND ($4::text IS NULL OR a.actor = $4) AND ($5::text IS NULL OR a.action = $5)
  AND ($6::timestamptz IS NULL OR a.at >= $6) AND ($7::timestamptz IS NULL OR a.at < $7)
  AND ($8::bigint IS NULL OR a.seq < $8)
ORDER BY a.seq DESC LIMIT $9`;

/** A page of the org's audit log, newest first. */
export async function listAudit(tx: Tx, orgId: string, filter: AuditFilter): Promise<AuditEntryView[]> {
  const { sessionId, undoId, actor, action, since, until, before, limit } = filter;
  const given = [sessionId, undoId, actor, action, since, until, before].map((value) => value ?? null);
  const rows = await tx.query<Omit<AuditEntryView, 'reason'> & { reason: Buffer | null }>({
    name: 'list_audit',
    text: PAGE,
    values: [orgId, ...given, limit],
  });
  return rows.map((row) => ({ ...row, reason: fromBytes(row.reason) }));
}
