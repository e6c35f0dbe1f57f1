import type { Statement } from './database.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';

export interface RenewClaim {
  readonly sessionId: string;
  readonly undoId: string;
  readonly fence: number;
  readonly leaseMs: number;
}

/** Lost: another worker raised the fence, or the entry is settled. A lease that ran out loses nothing by itself. */
export type RenewResult = 'held' | 'lost';

const RENEW = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::bigint[], $4::int[]) AS i (undo_id, fence, lease_ms)
)
UPDATE undolog_undo_stack u SET claimed_until = clock_timestamp() + i.lease_ms * interval '1 millisecond'
FROM item i
WHERE u.org_id = i.org_id AND u.undo_id = i.undo_id AND u.fence = i.fence
  AND u.state = 'running' AND u.claimed_until IS NOT NULL
RETURNING u.undo_id`;

function renew(orgId: string, inputs: readonly RenewClaim[]): Statement {
  return {
    name: 'renew_claim',
    text: RENEW,
    values: [
      orgId,
      inputs.map((input) => input.undoId),
      inputs.map((input) => input.fence),
      inputs.map((input) => input.leaseMs),
    ],
  };
}

/** Keeps a claim alive while its call lasts. */
export const renewClaim: Operation<RenewClaim, RenewResult> = {
  name: 'renew_claim',
  async run(tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    return (await tx.query(renew(orgId, [input]))).length > 0 ? 'held' : 'lost';
  },
  batch: {
    key: (input) => input.undoId,
    lock: (input) => input,
    statements: (orgId, inputs) => [renew(orgId, inputs)],
    read([rows], inputs) {
      const held = new Set((rows as { undo_id: string }[]).map((row) => row.undo_id));
      return inputs.map((input) => (held.has(input.undoId) ? 'held' : 'lost'));
    },
  },
};
