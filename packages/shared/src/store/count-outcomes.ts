import type { Tx } from './database.js';

/** Entries of the audit log that are read, the newest. */
const MAX_READ = 50_000;

export interface OutcomeCounts {
  readonly fn_name: string;
  readonly version: string;
  readonly compensated: number;
  readonly failed: number;
  readonly unconfirmed: number;
  readonly skipped: number;
}

const OUTCOMES = `
WITH told AS MATERIALIZED (
  SELECT at, action, undo_id FROM undolog_audit_log WHERE org_id = $1 ORDER BY seq DESC LIMIT ${MAX_READ}
), ended AS MATERIALIZED (
  SELECT action, undo_id FROM told WHERE at > clock_timestamp() - $2::integer * interval '1 hour'
    AND action IN ('undo.compensated', 'undo.failed', 'undo.unconfirmed', 'undo.skipped')
)
SELECT coalesce((SELECT json_agg(counted) FROM (
    SELECT u.fn_name, u.version,
      count(*) FILTER (WHERE e.action = 'undo.compensated') AS compensated,
      count(*) FILTER (WHERE e.action = 'undo.failed') AS failed,
      count(*) FILTER (WHERE e.action = 'undo.unconfirmed') AS unconfirmed,
      count(*) FILTER (WHERE e.action = 'undo.skipped') AS skipped
    FROM ended e JOIN undolog_undo_stack u ON u.undo_id = e.undo_id AND u.org_id = $1
    WHERE u.fn_name IS NOT NULL
    GROUP BY u.fn_name, u.version ORDER BY u.fn_name, u.version) AS counted), '[]') AS counts,
  (SELECT count(*) = ${MAX_READ} AND min(at) > clock_timestamp() - $2::integer * interval '1 hour' FROM told) AS sampled`;

/** How the undos of each compensation ended. An entry that broke and was retried counts with each of its ends. */
export async function countOutcomes(
  tx: Tx,
  orgId: string,
  hours: number,
): Promise<{ readonly counts: readonly OutcomeCounts[]; readonly sampled: boolean }> {
  const values = [orgId, hours];
  const [row] = await tx.query<{ counts: OutcomeCounts[]; sampled: boolean }>({
    name: 'count_outcomes',
    text: OUTCOMES,
    values,
  });
  return row!;
}
