import type { Statement } from './database.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';

export interface RecordDone {
  readonly sessionId: string;
  readonly undoId: string;
  /** The fence of the claim; if it was raised since, nothing is written. */
  readonly fence: number;
  readonly status: number | null;
  readonly durationMs: number;
  /** How long the vendor's record is asked, from now. */
  readonly budgetMs: number;
  /** Where the vendor says that its work can be followed. */
  readonly location: string | null;
}

export type RecordResult = 'recorded' | 'lost_fence';

const RECORD = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::bigint[], $4::int[], $5::float8[], $6::float8[], $7::text[])
    AS i (undo_id, fence, status, duration_ms, budget_ms, location)
), done AS (
  UPDATE undolog_undo_stack u SET
    attempt_open = false,
    confirm_until = coalesce(u.confirm_until, clock_timestamp() + i.budget_ms * interval '1 millisecond'),
    confirm_url = i.location
  FROM item i
  WHERE u.org_id = i.org_id AND u.undo_id = i.undo_id AND u.fence = i.fence
    AND u.state = 'running' AND u.claimed_until IS NOT NULL
  RETURNING u.org_id, u.undo_id, u.attempts, i.status, i.duration_ms
), attempt AS (
  UPDATE undolog_attempts a SET status = d.status, outcome = 'done', duration_ms = d.duration_ms
  FROM done d WHERE a.org_id = d.org_id AND a.undo_id = d.undo_id AND a.attempt = d.attempts
)
SELECT undo_id FROM done`;

function record(orgId: string, inputs: readonly RecordDone[]): Statement {
  return {
    name: 'record_done',
    text: RECORD,
    values: [
      orgId,
      inputs.map((input) => input.undoId),
      inputs.map((input) => input.fence),
      inputs.map((input) => input.status),
      inputs.map((input) => input.durationMs),
      inputs.map((input) => input.budgetMs),
      inputs.map((input) => input.location),
    ],
  };
}

/**
 * Keeps the vendor's "done" of an entry whose record is still to be asked. Whatever becomes of the worker from here on,
 * the entry is only asked about and never sent again. The claim stays as it is.
 */
export const recordDone: Operation<RecordDone, RecordResult> = {
  name: 'record_done',
  async run(tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    return (await tx.query(record(orgId, [input]))).length > 0 ? 'recorded' : 'lost_fence';
  },
  batch: {
    key: (input) => input.sessionId,
    lock: (input) => input,
    statements: (orgId, inputs) => [record(orgId, inputs)],
    read([rows], inputs) {
      const recorded = new Set((rows as { undo_id: string }[]).map((row) => row.undo_id));
      return inputs.map((input) => (recorded.has(input.undoId) ? 'recorded' : 'lost_fence'));
    },
  },
};
