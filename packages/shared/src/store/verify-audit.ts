import { ENTRY_HASH, sealHash } from './audit-seal.js';
import type { Tx } from './database.js';

export interface SealView {
  readonly number: number;
  readonly entries: number;
  /** Hexadecimal. */
  readonly hash: string;
  readonly sealed_at: string;
}

/** `missing`: a seal is gone. `entries`: there are more or fewer than were sealed. `altered`: they are not what they were. */
export type SealFault = 'missing' | 'entries' | 'altered';

export interface Verified {
  readonly checked: number;
  readonly entries: number;
  readonly fault: { readonly number: number; readonly kind: SealFault } | null;
  /** The last seal that was proved. */
  readonly through: SealView | null;
}

const VERIFY = `
SELECT s.number, s.entries, encode(s.hash, 'hex') AS hash, s.sealed_at, e.entries AS found,
  s.number = 1 OR p.number IS NOT NULL AS linked,
  s.hash = ${sealHash({ previous: 'p.hash', number: 's.number', entries: 'e.hashes' })} AS holds
FROM undolog_audit_seals s
LEFT JOIN undolog_audit_seals p ON p.org_id = s.org_id AND p.number = s.number - 1
CROSS JOIN LATERAL (
  SELECT count(*)::int AS entries, coalesce(string_agg(${ENTRY_HASH}, ''::bytea ORDER BY a.xid, a.seq), ''::bytea) AS hashes
  FROM undolog_audit_log a
  WHERE a.org_id = s.org_id AND (a.xid, a.seq) <= (s.to_xid, s.to_seq)
    AND (a.xid, a.seq) > (coalesce(p.to_xid, '0'), coalesce(p.to_seq, 0))
) e
WHERE s.org_id = $1 AND s.number > $2 ORDER BY s.number LIMIT $3`;

interface Row extends SealView {
  found: number;
  linked: boolean;
  holds: boolean;
}

function faultOf(row: Row, expected: number): SealFault | undefined {
  if (row.number !== expected || !row.linked) return 'missing';
  if (row.found !== row.entries) return 'entries';
  return row.holds ? undefined : 'altered';
}

/** Proves the seals after a number against the entries that they hold, until one does not hold. */
export async function verifyAudit(tx: Tx, orgId: string, after: number, limit: number): Promise<Verified> {
  const rows = await tx.query<Row>({ name: 'verify_audit', text: VERIFY, values: [orgId, after, limit] });
  let through: SealView | null = null;
  let entries = 0;
  for (const [index, row] of rows.entries()) {
    const number = after + index + 1;
    const kind = faultOf(row, number);
    if (kind) return { checked: index, entries, fault: { number, kind }, through };
    entries += row.entries;
    through = { number: row.number, entries: row.entries, hash: row.hash, sealed_at: row.sealed_at };
  }
  return { checked: rows.length, entries, fault: null, through };
}

/** How many entries wait to be sealed, counted up to a bound. */
export async function countUnsealed(tx: Tx, orgId: string, most: number): Promise<number> {
  const [row] = await tx.query<{ entries: number }>({
    name: 'count_unsealed',
    text: `
SELECT count(*)::int AS entries FROM (
  SELECT 1 FROM undolog_audit_log a
  WHERE a.org_id = $1 AND (a.xid, a.seq) > (
    SELECT coalesce(max(to_xid::text::numeric), 0)::text::xid8, coalesce((array_agg(to_seq ORDER BY number DESC))[1], 0)
    FROM (SELECT * FROM undolog_audit_seals WHERE org_id = $1 ORDER BY number DESC LIMIT 1) s)
  LIMIT $2) AS unsealed`,
    values: [orgId, most],
  });
  return row!.entries;
}

/** A page of the org's seals, the newest first, or the one of this number. */
export function listSeals(
  tx: Tx,
  orgId: string,
  page: { number?: number | undefined; before?: number | undefined; limit: number },
): Promise<SealView[]> {
  return tx.query<SealView>({
    name: 'list_seals',
    text: `SELECT number, entries, encode(hash, 'hex') AS hash, sealed_at FROM undolog_audit_seals
      WHERE org_id = $1 AND ($2::bigint IS NULL OR number < $2) AND ($3::bigint IS NULL OR number = $3)
      ORDER BY number DESC LIMIT $4`,
    values: [orgId, page.before ?? null, page.number ?? null, page.limit],
  });
}
