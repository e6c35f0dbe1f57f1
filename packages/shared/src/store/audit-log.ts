import type { JsonText } from '../domain/json-text.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';

export interface AuditEntryView {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly session_id: string | null;
  readonly undo_id: string | null;
  readonly fn_name: string | null;
  readonly reason: JsonText | null;
}

export interface AuditFilter {
  readonly sessionId?: string | undefined;
  readonly limit: number;
  /** Entries before this number follow: newest first. */
  readonly before?: number | undefined;
}

const PAGE = `
SELECT seq, at, actor, action, session_id, undo_id, fn_name, reason FROM undolog_audit_log
WHERE org_id = $1 AND ($2::text IS NULL OR session_id = $2) AND ($3::bigint IS NULL OR seq < $3)
ORDER BY seq DESC LIMIT $4`;

/** A page of the org's audit log, newest first. */
export async function listAudit(tx: Tx, orgId: string, filter: AuditFilter): Promise<AuditEntryView[]> {
  const rows = await tx.query<Omit<AuditEntryView, 'reason'> & { reason: Buffer | null }>({
    name: 'list_audit',
    text: PAGE,
    values: [orgId, filter.sessionId ?? null, filter.before ?? null, filter.limit],
  });
  return rows.map((row) => ({ ...row, reason: fromBytes(row.reason) }));
}
