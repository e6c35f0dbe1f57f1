import type { EffectClass } from '../domain/effect-class.js';
import { effectKey } from '../domain/effect-key.js';
import type { JsonText } from '../domain/json-text.js';
import { MAX_STACK_POSITION } from '../domain/limits.js';
import type { Fingerprint, Place, Vault } from '../domain/vault.js';
import type { Statement, Tx } from './database.js';
import { knownEffect, type EffectIds, type KnownEffect } from './known-effect.js';
import { LEASE_EXPIRED, RENEWAL_DUE, RENEWED_LEASE } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { packBytes, unpack } from './packed-bytes.js';
import { sealJson } from './sealed-json.js';

export interface RegisterEffect {
  readonly sessionId: string;
  readonly effectId: string;
  /** Id of the undo entry; unused when the effect is `safe`. */
  readonly undoId: string;
  readonly toolName: string;
  readonly effectClass: EffectClass;
  readonly args: JsonText;
  readonly stepIndex: number | null;
  readonly callId: string | null;
  readonly callTimeoutMs: number;
  /** Of the body; null without a `call_id`, as nothing can repeat it. */
  readonly fingerprint: Fingerprint | null;
  readonly traceparent: string | null;
  readonly compensation: {
    readonly fnName: string;
    readonly version: string;
    /** Null: the registry's own. */
    readonly maxRetries: number | null;
    /** With `$args` filled in; `needsResult` tells that `$result` references remain. */
    readonly args: JsonText;
    readonly needsResult: boolean;
  } | null;
}

export type RefusedRegistration =
  | 'session_not_found'
  | 'session_not_active'
  | 'unknown_compensation'
  | 'step_index_taken'
  | 'stack_full'
  | 'call_id_reused';

export type RegisterResult =
  ({ readonly outcome: 'execute' } & EffectIds) | KnownEffect | { readonly outcome: RefusedRegistration };

// Each CASE arm is one rule of intake; they are asked in the order in which a caller can mend them.
const REGISTER = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::int[], $8::text[],
    $9::int[], $10::bytea[], $11::text[], $12::text[], $13::text[], $14::int[], $15::boolean[], $16::int[], $17::int[],
    $18::int[], $19::int[])
    AS i (session_id, effect_id, undo_id, tool_name, effect_class, step_index, call_id,
      call_timeout_ms, body_hash, traceparent, fn_name, version, max_retries, needs_result, args_start, args_length,
      undo_args_start, undo_args_length)
), placed AS (
  SELECT i.*, s.state, ${LEASE_EXPIRED} AS expired, s.session_id IS NOT NULL AS session_known,
    r.max_retries AS registry_max_retries,
    coalesce(i.step_index::bigint, greatest(top.stack_position, 0)::bigint + 1) AS position,
    known.effect_id IS NOT NULL AS call_known, taken.effect_id IS NOT NULL AS taken
  FROM item i
  LEFT JOIN undolog_sessions s ON s.org_id = i.org_id AND s.session_id = i.session_id
  LEFT JOIN undolog_compensation_registry r
    ON r.org_id = i.org_id AND r.fn_name = i.fn_name AND r.version = i.version
  LEFT JOIN undolog_effect_log known
    ON known.org_id = i.org_id AND known.session_id = i.session_id AND known.call_id = i.call_id
  LEFT JOIN undolog_effect_log taken
    ON taken.org_id = i.org_id AND taken.session_id = i.session_id AND taken.stack_position = i.step_index
  LEFT JOIN LATERAL (
    SELECT e.stack_position FROM undolog_effect_log e WHERE e.org_id = i.org_id AND e.session_id = i.session_id
    ORDER BY e.stack_position DESC LIMIT 1
  ) top ON i.step_index IS NULL
), judged AS MATERIALIZED (
  SELECT *, CASE
    WHEN NOT session_known THEN 'session_not_found'
    WHEN call_known THEN 'known'
    WHEN state <> 'active' OR expired THEN 'session_not_active'
    WHEN fn_name IS NOT NULL AND registry_max_retries IS NULL THEN 'unknown_compensation'
    WHEN taken THEN 'step_index_taken'
    WHEN position > ${MAX_STACK_POSITION} THEN 'stack_full'
    ELSE 'execute' END AS outcome
  FROM placed
), undo AS (
  INSERT INTO undolog_undo_stack (org_id, undo_id, session_id, effect_id, stack_position, state,
    fn_name, version, args, needs_result, max_retries)
  SELECT org_id, undo_id, session_id, effect_id, position, 'pending',
    fn_name, version, ${unpack('$20', 'undo_args_start', 'undo_args_length')}, needs_result,
    coalesce(max_retries, registry_max_retries)
  FROM judged WHERE outcome = 'execute' AND effect_class <> 'safe'
), effect AS (
  INSERT INTO undolog_effect_log (org_id, effect_id, session_id, undo_id, stack_position, tool_name, effect_class,
    state, call_id, body_hash, args, call_timeout_ms, traceparent, executed_at)
  SELECT org_id, effect_id, session_id, CASE WHEN effect_class <> 'safe' THEN undo_id END, position, tool_name,
    effect_class, 'executing', call_id, body_hash, ${unpack('$20', 'args_start', 'args_length')}, call_timeout_ms, traceparent,
    greatest(clock_timestamp(), now() + interval '1 microsecond')
  FROM judged WHERE outcome = 'execute'
), lease AS (
  UPDATE undolog_sessions s SET lease_expires_at = ${RENEWED_LEASE}, updated_at = clock_timestamp()
  FROM judged j
  WHERE s.org_id = j.org_id AND s.session_id = j.session_id AND j.outcome = 'execute' AND ${RENEWAL_DUE}
)
SELECT session_id, outcome, position FROM judged`;

interface Judged {
  session_id: string;
  outcome: 'execute' | 'known' | Exclude<RefusedRegistration, 'call_id_reused'>;
  position: number;
}

function register(orgId: string, inputs: readonly RegisterEffect[], vault: Vault): Statement {
  const column = <V>(pick: (input: RegisterEffect) => V): V[] => inputs.map(pick);
  // Both are sealed for the effect: an entry that replaces this one takes its arguments over as they are.
  const place = (name: 'effect_args' | 'undo_args', input: RegisterEffect): Place => ({
    orgId,
    column: name,
    row: input.effectId,
  });
  const args = inputs.map((input) => sealJson(vault, place('effect_args', input), input.args));
  const undoArgs = inputs.map((input) => sealJson(vault, place('undo_args', input), input.compensation?.args ?? null));
  const { bytes, starts, lengths } = packBytes([...args, ...undoArgs]);
  const count = inputs.length;
  return {
    name: 'register_effect',
    text: REGISTER,
    values: [
      orgId,
      column((input) => input.sessionId),
      column((input) => input.effectId),
      column((input) => input.undoId),
      column((input) => input.toolName),
      column((input) => input.effectClass),
      column((input) => input.stepIndex),
      column((input) => input.callId),
      column((input) => input.callTimeoutMs),
      column((input) => input.fingerprint?.bytes ?? null),
      column((input) => input.traceparent),
      column((input) => input.compensation?.fnName ?? null),
      column((input) => input.compensation?.version ?? null),
      column((input) => input.compensation?.maxRetries ?? null),
      column((input) => input.compensation?.needsResult ?? false),
      starts.slice(0, count),
      lengths.slice(0, count),
      starts.slice(count),
      lengths.slice(count),
      bytes,
    ],
  };
}

function toResult(input: RegisterEffect, row: Judged): RegisterResult | 'alone' {
  if (row.outcome === 'known') return 'alone';
  if (row.outcome !== 'execute') return { outcome: row.outcome };
  return {
    outcome: 'execute',
    effectId: input.effectId,
    undoId: input.effectClass === 'safe' ? null : input.undoId,
    stackPosition: row.position,
    idempotencyKey: effectKey(input.effectId),
  };
}

/**
 * Registers one tool call and its undo, before the call runs: both rows commit in this transaction or neither does,
 * and only `execute` lets the caller run the tool.
 */
export const registerEffect: Operation<RegisterEffect, RegisterResult> = {
  name: 'register_effect',
  async run(tx: Tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    const [row] = await tx.query<Judged>(register(orgId, [input], tx.vault));
    const result = toResult(input, row!);
    return result === 'alone' ? knownEffect(tx, orgId, input.sessionId, input.callId!, input.fingerprint!) : result;
  },
  batch: {
    // One registration per session and statement: the next position is the highest one plus one.
    key: (input) => input.sessionId,
    lock: (input) => input,
    statements: (orgId, inputs, vault) => [register(orgId, inputs, vault)],
    read([rows], inputs) {
      const judged = new Map((rows as Judged[]).map((row) => [row.session_id, row]));
      return inputs.map((input) => toResult(input, judged.get(input.sessionId)!));
    },
  },
};
