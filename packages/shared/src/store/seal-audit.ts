import { ENTRY_HASH, sealHash } from './audit-seal.js';
import type { Database } from './database.js';

// Only transactions that no open one could still come before: what is written later has a later place.
const NEXT = `
SELECT m.sealed_to::text AS sealed_from, count(b.xid)::int AS entries,
  CASE WHEN count(b.xid) < $1 THEN pg_snapshot_xmin(pg_current_snapshot())::text ELSE max(b.xid::text::numeric)::text END AS sealed_to,
  min(b.xid::text::numeric) = max(b.xid::text::numeric) AS one_transaction
FROM (SELECT sealed_to FROM undolog_audit_sealing FOR UPDATE SKIP LOCKED) m
LEFT JOIN LATERAL (
  SELECT xid FROM undolog_audit_log
  WHERE xid >= m.sealed_to AND xid < pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid LIMIT $1
) b ON true
GROUP BY m.sealed_to`;

const SEAL = `
WITH entry AS MATERIALIZED (
  SELECT a.org_id, a.xid, a.seq, ${ENTRY_HASH} AS hash
  FROM undolog_audit_log a WHERE a.xid >= $1::text::xid8 AND a.xid < $2::text::xid8
), batch AS (
  SELECT org_id, count(*)::int AS entries, string_agg(hash, ''::bytea ORDER BY xid, seq) AS hashes,
    (array_agg(xid ORDER BY xid DESC, seq DESC))[1] AS to_xid, (array_agg(seq ORDER BY xid DESC, seq DESC))[1] AS to_seq
  FROM entry GROUP BY org_id
), seal AS (
  INSERT INTO undolog_audit_seals (org_id, number, to_xid, to_seq, entries, hash)
  SELECT b.org_id, n.number, b.to_xid, b.to_seq, b.entries,
    ${sealHash({ previous: 'n.previous', number: 'n.number', entries: 'b.hashes' })}
  FROM batch b
  LEFT JOIN LATERAL (
    SELECT number, hash FROM undolog_audit_seals s WHERE s.org_id = b.org_id ORDER BY number DESC LIMIT 1
  ) l ON true
  CROSS JOIN LATERAL (SELECT coalesce(l.number, 0) + 1 AS number, l.hash AS previous) n
)
UPDATE undolog_audit_sealing SET sealed_to = $2::text::xid8`;

interface Next {
  sealed_from: string;
  sealed_to: string;
  entries: number;
  one_transaction: boolean | null;
}

/**
 * Seals what has been written to the audit logs of all orgs since the last time, up to `limit` entries or one
 * transaction. Two at once don't fork a chain: the one that comes second does nothing.
 *
 * @returns how many entries were looked at; `limit`: there may be more.
 */
export function sealAudit(database: Database, limit: number): Promise<number> {
  return database.transaction(async (tx) => {
    const [next] = await tx.query<Next>({ name: 'next_seal', text: NEXT, values: [limit] });
    if (!next || next.entries === 0) return 0;
    // The last transaction may have more entries than the limit let in; alone, it is sealed whole.
    const whole = next.entries < limit || !next.one_transaction;
    const to = whole ? next.sealed_to : String(BigInt(next.sealed_to) + 1n);
    await tx.query({ name: 'seal_audit', text: SEAL, values: [next.sealed_from, to] });
    return next.entries;
  });
}
