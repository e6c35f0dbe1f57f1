import type { JsonText } from '../domain/json-text.js';
import type { Vault } from '../domain/vault.js';
import type { Statement } from './database.js';
import { placeOfResult } from './late-commit.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { sealJson } from './sealed-json.js';

export interface OpenAttempt {
  readonly sessionId: string;
  readonly undoId: string;
  readonly effectId: string;
  /** The fence of the claim; if it was raised since, nothing is written. */
  readonly fence: number;
  readonly leaseMs: number;
  /** What a lookup has just found: kept, so that all tries of the entry have one body. */
  readonly found: JsonText | null;
}

export type OpenResult = 'opened' | 'lost_fence';

const OPEN = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::bigint[], $4::int[], $5::bytea[])
    AS i (undo_id, fence, lease_ms, found)
), opened AS (
  UPDATE undolog_undo_stack u SET
    claimed_until = clock_timestamp() + i.lease_ms * interval '1 millisecond',
    attempts = u.attempts + 1,
    round_attempts = u.round_attempts + 1,
    attempt_open = true,
    found_result = coalesce(u.found_result, i.found)
  FROM item i
  WHERE u.org_id = i.org_id AND u.undo_id = i.undo_id AND u.fence = i.fence
    AND u.state = 'running' AND u.claimed_until IS NOT NULL AND NOT u.attempt_open
  RETURNING u.org_id, u.undo_id, u.attempts
), attempt AS (
  INSERT INTO undolog_attempts (org_id, undo_id, attempt) SELECT org_id, undo_id, attempts FROM opened
)
SELECT undo_id FROM opened`;

function open(orgId: string, inputs: readonly OpenAttempt[], vault: Vault): Statement {
  return {
    name: 'open_attempt',
    text: OPEN,
    values: [
      orgId,
      inputs.map((input) => input.undoId),
      inputs.map((input) => input.fence),
      inputs.map((input) => input.leaseMs),
      inputs.map((input) => sealJson(vault, placeOfResult(orgId, input), input.found)),
    ],
  };
}

/** Writes the row of a try whose claim could not know that it would be made; it is committed before the call leaves. */
export const openAttempt: Operation<OpenAttempt, OpenResult> = {
  name: 'open_attempt',
  async run(tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    return (await tx.query(open(orgId, [input], tx.vault))).length > 0 ? 'opened' : 'lost_fence';
  },
  batch: {
    key: (input) => input.sessionId,
    lock: (input) => input,
    statements: (orgId, inputs, vault) => [open(orgId, inputs, vault)],
    read([rows], inputs) {
      const opened = new Set((rows as { undo_id: string }[]).map((row) => row.undo_id));
      return inputs.map((input) => (opened.has(input.undoId) ? 'opened' : 'lost_fence'));
    },
  },
};
