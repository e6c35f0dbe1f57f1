import { canonicalText } from '../domain/canonical-json.js';
import { parseJson } from '../domain/json-text.js';
import type { Vault } from '../domain/vault.js';
import type { Statement, Tx } from './database.js';
import { keepLateCommit, placeOfResult, type LateCommit, type SuccessReport } from './late-commit.js';
import { LEASE_EXPIRED, RENEWAL_DUE, RENEWED_LEASE } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { packBytes, unpack } from './packed-bytes.js';
import { ROLLING_BACK } from './roll-back-session.js';
import { sealJson, unsealJson } from './sealed-json.js';
import { supersedeEntry } from './supersede-entry.js';

export type CommitResult =
  | { readonly outcome: 'committed'; readonly effectId: string; readonly undoId: string | null }
  /** The session has left `active`: the effect is kept and will be undone. */
  | ({ readonly outcome: 'late' } & LateCommit)
  | { readonly outcome: 'effect_not_found' | 'result_conflict' };

const COMMIT = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::int[], $4::int[]) AS i (effect_id, start, length)
), judged AS MATERIALIZED (
  SELECT i.*, e.session_id, e.undo_id, CASE
    WHEN e.effect_id IS NULL THEN 'effect_not_found'
    WHEN e.committed_at IS NOT NULL AND e.result IS DISTINCT FROM ${unpack('$5', 'i.start', 'i.length')} THEN 'differs'
    WHEN e.committed_at IS NOT NULL AND e.committed_late THEN 'repeated_late'
    WHEN e.committed_at IS NOT NULL THEN 'repeated'
    WHEN e.rolled_back OR NOT (s.state = 'active' AND NOT ${LEASE_EXPIRED} OR ${ROLLING_BACK}) THEN 'late'
    WHEN e.state = 'failed' THEN 'taken_back'
    ELSE 'commit' END AS outcome
  FROM item i
  LEFT JOIN undolog_effect_log e ON e.org_id = i.org_id AND e.effect_id = i.effect_id
  LEFT JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
), committed AS (
  UPDATE undolog_effect_log e SET state = 'committed', result = ${unpack('$5', 'j.start', 'j.length')}, committed_at = clock_timestamp()
  FROM judged j
  WHERE e.org_id = j.org_id AND e.effect_id = j.effect_id AND (j.outcome = 'commit' OR (j.outcome = 'taken_back' AND $6))
  RETURNING e.org_id, e.undo_id
), entry AS (
  UPDATE undolog_undo_stack u SET state = 'active'
  FROM committed c WHERE u.org_id = c.org_id AND u.undo_id = c.undo_id AND u.state = 'pending'
), lease AS (
  UPDATE undolog_sessions s SET lease_expires_at = ${RENEWED_LEASE}, updated_at = clock_timestamp()
  FROM (SELECT DISTINCT org_id, session_id FROM judged WHERE outcome = 'commit') j
  WHERE s.org_id = j.org_id AND s.session_id = j.session_id AND ${RENEWAL_DUE}
)
SELECT effect_id, undo_id, outcome FROM judged`;

interface Judged {
  effect_id: string;
  undo_id: string | null;
  outcome: 'effect_not_found' | 'differs' | 'repeated_late' | 'repeated' | 'late' | 'taken_back' | 'commit';
}

/** `takeBack`: whether an earlier `not_applied` may be taken back, which needs a successor for its skipped entry. */
function commit(orgId: string, inputs: readonly SuccessReport[], takeBack: boolean, vault: Vault): Statement {
  const ids = inputs.map((input) => input.effectId);
  const results = packBytes(inputs.map((input) => sealJson(vault, placeOfResult(orgId, input), input.result)));
  const values = [orgId, ids, results.starts, results.lengths, results.bytes, takeBack];
  return { name: 'commit_effect', text: COMMIT, values };
}

/** A sealed result never equals another one, so every repeat of one is compared here, as text. */
async function sameResult(
  tx: Tx,
  orgId: string,
  input: SuccessReport,
): Promise<'repeated' | 'repeated_late' | 'differs'> {
  const [row] = await tx.query<{ result: Buffer | null; committed_late: boolean }>({
    text: 'SELECT result, committed_late FROM undolog_effect_log WHERE org_id = $1 AND effect_id = $2',
    values: [orgId, input.effectId],
  });
  if (!row?.result || !input.result) return 'differs';
  const { text } = unsealJson(tx.vault, placeOfResult(orgId, input), row.result);
  const [kept, given] = [parseJson(text), parseJson(input.result.text)];
  if (!kept.ok || !given.ok || canonicalText(kept.node) !== canonicalText(given.node)) return 'differs';
  return row.committed_late ? 'repeated_late' : 'repeated';
}

function toResult(row: Judged): CommitResult | 'alone' {
  const ids = { effectId: row.effect_id, undoId: row.undo_id };
  switch (row.outcome) {
    case 'commit':
    case 'repeated':
      return { outcome: 'committed', ...ids };
    case 'repeated_late':
      return { outcome: 'late', ...ids, wake: null };
    case 'effect_not_found':
      return { outcome: 'effect_not_found' };
    case 'differs':
    case 'late':
    case 'taken_back':
      return 'alone';
    default:
      return row.outcome satisfies never;
  }
}

async function run(tx: Tx, orgId: string, input: SuccessReport): Promise<CommitResult> {
  await tx.query(lockSessions(orgId, [input]));
  const [row] = await tx.query<Judged>(commit(orgId, [input], true, tx.vault));
  const ids = { effectId: row!.effect_id, undoId: row!.undo_id };
  switch (row!.outcome) {
    case 'differs': {
      const seen = await sameResult(tx, orgId, input);
      if (seen === 'differs') return { outcome: 'result_conflict' };
      return seen === 'repeated' ? { outcome: 'committed', ...ids } : { outcome: 'late', ...ids, wake: null };
    }
    case 'late':
      return { outcome: 'late', ...(await keepLateCommit(tx, orgId, input)) };
    case 'taken_back':
      if (ids.undoId === null) return { outcome: 'committed', ...ids };
      await supersedeEntry(tx, orgId, ids.undoId, input.successorId);
      return { outcome: 'committed', effectId: ids.effectId, undoId: input.successorId };
    default:
      return toResult(row!) as CommitResult;
  }
}

/** Reports that a tool call took effect; from here on the entry is bound to the call's result. */
export const commitEffect: Operation<SuccessReport, CommitResult> = {
  name: 'commit_effect',
  run,
  batch: {
    key: (input) => input.effectId,
    lock: (input) => ({ effectId: input.effectId }),
    statements: (orgId, inputs, vault) => [commit(orgId, inputs, false, vault)],
    read([rows], inputs) {
      const judged = new Map((rows as Judged[]).map((row) => [row.effect_id, row]));
      return inputs.map((input) => toResult(judged.get(input.effectId)!));
    },
  },
};
