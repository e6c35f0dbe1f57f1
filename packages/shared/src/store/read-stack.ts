import type { EffectClass } from '../domain/effect-class.js';
import { effectKey } from '../domain/effect-key.js';
import { JsonText } from '../domain/json-text.js';
import { bindResult } from '../domain/references.js';
import type { EffectState, UndoState } from '../domain/states.js';
import type { AttemptOutcome, UndoProof } from '../domain/verdict.js';
import type { Place, UnsealFault, Vault } from '../domain/vault.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';

export interface AttemptView {
  readonly at: string;
  readonly status: number | null;
  /** Null while the try is under way. */
  readonly outcome: AttemptOutcome | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

/** An undo entry with its effect and every try of it. */
export interface EntryView {
  readonly undo_id: string;
  readonly effect_id: string;
  readonly stack_position: number;
  readonly state: UndoState;
  readonly proof: UndoProof | null;
  readonly reason: JsonText | null;
  readonly code: string | null;
  readonly registered_at: string;
  readonly compensated_at: string | null;
  readonly fn_name: string | null;
  readonly version: string | null;
  /** As they are sent: bound to the call's result once that is known. */
  readonly args: JsonText | null;
  readonly generation: number;
  readonly superseded_by: string | null;
  /** Why arguments or a result are null although there are some. */
  readonly unreadable: UnsealFault | null;
  readonly effect: {
    readonly effect_id: string;
    readonly tool_name: string;
    readonly effect_class: EffectClass;
    readonly state: EffectState;
    /** Null only when it is unreadable. */
    readonly args: JsonText | null;
    readonly result: JsonText | null;
    readonly idempotency_key: string;
    readonly registered_at: string;
    readonly executed_at: string | null;
    readonly committed_at: string | null;
  };
  readonly attempts: readonly AttemptView[];
}

/** What would run if its compensation were not paused; a call that was under way when it was paused is not parked. */
const PARKED = `(p.fn_name IS NOT NULL AND s.state IN ('failed', 'compensating')
    AND u.state IN ('pending', 'active', 'running') AND u.superseded_by IS NULL
    AND coalesce(u.claimed_until <= clock_timestamp(), true))`;

const STACK = `
SELECT u.*, ${PARKED} AS parked, e.tool_name, e.effect_class, e.state AS effect_state, e.args AS effect_args,
  coalesce(e.result, u.found_result) AS result, coalesce(u.found_result, e.result) AS bound_result,
  e.registered_at AS effect_registered_at, e.executed_at, e.committed_at
FROM undolog_undo_stack u
JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
LEFT JOIN undolog_paused_compensations p ON p.org_id = u.org_id AND p.fn_name = u.fn_name
WHERE u.org_id = $1 AND u.session_id = $2
ORDER BY u.stack_position DESC, u.generation DESC`;

const ATTEMPTS = `
SELECT a.undo_id, a.at, a.status, a.outcome, a.error, a.duration_ms FROM undolog_attempts a
WHERE a.org_id = $1 AND a.undo_id = ANY ($2::uuid[]) ORDER BY a.undo_id, a.attempt`;

interface Row extends Omit<EntryView, 'args' | 'reason' | 'unreadable' | 'effect' | 'attempts'> {
  args: Buffer | null;
  reason: Buffer | null;
  needs_result: boolean;
  parked: boolean;
  tool_name: string;
  effect_class: EffectClass;
  effect_state: EffectState;
  effect_args: Buffer;
  result: Buffer | null;
  bound_result: Buffer | null;
  effect_registered_at: string;
  executed_at: string | null;
  committed_at: string | null;
}

/** What can be read of an entry's sealed values, and why the rest can't. */
function unsealAll(
  vault: Vault,
  orgId: string,
  row: Row,
): Record<'args' | 'effectArgs' | 'result' | 'boundResult', JsonText | null> & { fault: UnsealFault | null } {
  let fault: UnsealFault | null = null;
  const read = (column: Place['column'], bytes: Buffer | null): JsonText | null => {
    if (bytes === null) return null;
    const unsealed = vault.unseal({ orgId, column, row: row.effect_id }, bytes);
    if (unsealed.ok) return new JsonText(unsealed.text);
    fault ??= unsealed.fault;
    return null;
  };
  const args = read('undo_args', row.args);
  const effectArgs = read('effect_args', row.effect_args);
  const result = read('effect_result', row.result);
  const boundResult = read('effect_result', row.bound_result);
  return { args, effectArgs, result, boundResult, fault };
}

function boundArgs(args: JsonText | null, result: JsonText | null, needsResult: boolean): JsonText | null {
  if (args === null || result === null || !needsResult) return args;
  const bound = bindResult(args.text, result.text);
  return bound.ok ? new JsonText(bound.text) : args;
}

function entryView(vault: Vault, orgId: string, row: Row, attempts: readonly AttemptView[]): EntryView {
  const { args, effectArgs, result, boundResult, fault } = unsealAll(vault, orgId, row);
  return {
    undo_id: row.undo_id,
    effect_id: row.effect_id,
    stack_position: row.stack_position,
    state: row.state,
    proof: row.proof,
    reason: fromBytes(row.reason),
    code: row.parked ? 'compensation_paused' : row.code,
    registered_at: row.registered_at,
    compensated_at: row.compensated_at,
    fn_name: row.fn_name,
    version: row.version,
    args: boundArgs(args, boundResult, row.needs_result),
    generation: row.generation,
    superseded_by: row.superseded_by,
    unreadable: fault,
    effect: {
      effect_id: row.effect_id,
      tool_name: row.tool_name,
      effect_class: row.effect_class,
      state: row.effect_state,
      args: effectArgs,
      result,
      idempotency_key: effectKey(row.effect_id),
      registered_at: row.effect_registered_at,
      executed_at: row.executed_at,
      committed_at: row.committed_at,
    },
    attempts,
  };
}

/** The session's stack from the top down, each superseded entry behind its successor; undefined: no such session. */
export async function readStack(tx: Tx, orgId: string, sessionId: string): Promise<EntryView[] | undefined> {
  const rows = await tx.query<Row>({ name: 'read_stack', text: STACK, values: [orgId, sessionId] });
  if (rows.length === 0) {
    const known = 'SELECT 1 FROM undolog_sessions WHERE org_id = $1 AND session_id = $2';
    return (await tx.query({ text: known, values: [orgId, sessionId] })).length > 0 ? [] : undefined;
  }
  const ids = rows.map((row) => row.undo_id);
  const tries = await tx.query<AttemptView & { undo_id: string }>({
    name: 'read_attempts',
    text: ATTEMPTS,
    values: [orgId, ids],
  });
  const byEntry = new Map<string, AttemptView[]>(ids.map((id) => [id, []]));
  for (const { undo_id: undoId, ...attempt } of tries) byEntry.get(undoId)!.push(attempt);
  return rows.map((row) => entryView(tx.vault, orgId, row, byEntry.get(row.undo_id)!));
}
