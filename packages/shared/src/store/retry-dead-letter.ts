import { JsonText, nodeOf, type JsonNode } from '../domain/json-text.js';
import { bindArgs } from '../domain/references.js';
import type { Tx } from './database.js';
import { wordBytes } from './json-bytes.js';
import type { Operation } from './operation.js';
import { sealJson, unsealJson } from './sealed-json.js';
import { supersedeEntry, type Correction } from './supersede-entry.js';
import {
  resumeSession,
  takeDeadLetter,
  type LetterAction,
  type LetterRefusal,
  type ResumeResult,
} from './take-dead-letter.js';

export interface RetryDeadLetter extends LetterAction {
  /** The broken entry to try again; null: the highest. */
  readonly undoId: string | null;
  /** Other arguments, as they would be registered; null: the same. */
  readonly args: JsonNode | null;
  /** Another version of its compensation; null: the same. */
  readonly version: string | null;
  /** For the entry that takes the place of one that is corrected. */
  readonly successorId: string;
  /** How long its next call waits at least. */
  readonly delayMs: number;
}

export type RetryResult =
  | ResumeResult
  | LetterRefusal
  | { readonly outcome: 'unknown_undo' | 'outcome_unknown' | 'unknown_compensation' }
  | { readonly outcome: 'unresolved_reference'; readonly pointer: string };

const FIND = `
SELECT u.undo_id, u.effect_id, u.fn_name, u.version, u.max_retries, e.args AS effect_args, r.max_retries AS registry_retries,
  EXISTS (SELECT 1 FROM undolog_attempts a WHERE a.org_id = u.org_id AND a.undo_id = u.undo_id
    AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'done'))) AS may_have_taken
FROM undolog_undo_stack u
JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
LEFT JOIN undolog_compensation_registry r ON r.org_id = u.org_id AND r.fn_name = u.fn_name AND r.version = u.version
WHERE u.org_id = $1 AND u.session_id = $2 AND u.superseded_by IS NULL AND u.state IN ('failed', 'unconfirmed')
  AND ($3::uuid IS NULL OR u.undo_id = $3) AND (s.rollback_to IS NULL OR e.rolled_back)
ORDER BY u.stack_position DESC LIMIT 1`;

interface Broken {
  undo_id: string;
  effect_id: string;
  fn_name: string;
  version: string;
  max_retries: number;
  effect_args: Buffer;
  registry_retries: number;
  may_have_taken: boolean;
}

const RENEW = `
UPDATE undolog_undo_stack SET state = 'running', code = NULL, round_attempts = 0, answer_hash = NULL,
  next_attempt_at = CASE WHEN $3 > 0 THEN clock_timestamp() + $3 * interval '1 millisecond' END
WHERE org_id = $1 AND undo_id = $2 AND state IN ('failed', 'unconfirmed')`;

/** What the entry is to be instead. A budget that came from the registry comes from the new version's. */
async function correctionOf(
  tx: Tx,
  orgId: string,
  broken: Broken,
  { args, version }: RetryDeadLetter,
): Promise<Correction | Exclude<RetryResult, { outcome: 'resumed' }>> {
  const [registered] = await tx.query<{ max_retries: number }>({
    name: 'find_correction',
    text: 'SELECT max_retries FROM undolog_compensation_registry WHERE org_id = $1 AND fn_name = $2 AND version = $3',
    values: [orgId, broken.fn_name, version ?? broken.version],
  });
  if (!registered) return { outcome: 'unknown_compensation' };
  const maxRetries = broken.max_retries === broken.registry_retries ? registered.max_retries : broken.max_retries;
  const kept = { version: version ?? broken.version, maxRetries, args: null };
  if (args === null) return kept;
  const place = { orgId, row: broken.effect_id };
  const effectArgs = unsealJson(tx.vault, { ...place, column: 'effect_args' }, broken.effect_args);
  const bound = bindArgs(args, nodeOf(effectArgs));
  if (!bound.ok) return { outcome: 'unresolved_reference', pointer: bound.pointer };
  const sealed = sealJson(tx.vault, { ...place, column: 'undo_args' }, new JsonText(bound.text))!;
  return { ...kept, args: { sealed, needsResult: bound.needsResult } };
}

const CORRECTED = `
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
VALUES ($1, $2, 'undo.corrected', $3, $4, $5)`;

/**
 * Gives a broken entry a fresh budget, its attempts kept, and lets the unwind go on from the highest entry that waits.
 * With other arguments or another version the entry gives way to a new one, and so to a new key: only where no call of
 * the old one can have taken effect.
 */
export const retryDeadLetter: Operation<RetryDeadLetter, RetryResult> = {
  name: 'retry_dead_letter',
  async run(tx, orgId, input) {
    const letter = await takeDeadLetter(tx, orgId, input);
    if (letter.outcome !== 'open') return letter;
    const { sessionId } = letter;
    const [broken] = await tx.query<Broken>({
      name: 'find_broken',
      text: FIND,
      values: [orgId, sessionId, input.undoId],
    });
    const corrects = input.args !== null || input.version !== null;
    if (!broken) {
      if (corrects || input.undoId !== null) return { outcome: 'unknown_undo' };
      return resumeSession(tx, orgId, letter, input, { as: 'retry', undoId: null });
    }
    if (!corrects) {
      await tx.query({ name: 'renew_entry', text: RENEW, values: [orgId, broken.undo_id, input.delayMs] });
      return resumeSession(tx, orgId, letter, input, { as: 'retry', undoId: broken.undo_id });
    }
    if (broken.may_have_taken) return { outcome: 'outcome_unknown' };
    const correction = await correctionOf(tx, orgId, broken, input);
    if ('outcome' in correction) return correction;
    await supersedeEntry(tx, orgId, broken.undo_id, input.successorId, correction);
    const corrected = [orgId, input.actor, sessionId, input.successorId, wordBytes(`in place of ${broken.undo_id}`)];
    await tx.query({ name: 'audit_correction', text: CORRECTED, values: corrected });
    return resumeSession(tx, orgId, letter, input, { as: 'retry', undoId: input.successorId });
  },
};
