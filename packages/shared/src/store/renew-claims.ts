import type { Database } from './database.js';

export interface HeldClaim {
  readonly orgId: string;
  readonly undoId: string;
  readonly fence: number;
}

const RENEW = `
WITH item AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS i (org_id, undo_id, fence)
)
UPDATE undolog_undo_stack u SET claimed_until = clock_timestamp() + $4 * interval '1 millisecond'
FROM item i
WHERE u.org_id = i.org_id AND u.undo_id = i.undo_id AND u.fence = i.fence
  AND u.state = 'running' AND u.claimed_until IS NOT NULL
RETURNING u.undo_id`;

/**
 * Keeps claims alive while their calls last. A claim that is missing in the answer is lost: another worker raised its
 * fence. One whose lease ran out is still ours as long as nobody did.
 *
 * @returns the undo ids that are still held.
 */
export async function renewClaims(
  database: Database,
  claims: readonly HeldClaim[],
  leaseMs: number,
): Promise<Set<string>> {
  const values = [
    claims.map((claim) => claim.orgId),
    claims.map((claim) => claim.undoId),
    claims.map((claim) => claim.fence),
    leaseMs,
  ];
  const rows = await database.query<{ undo_id: string }>({ name: 'renew_claims', text: RENEW, values });
  return new Set(rows.map((row) => row.undo_id));
}
