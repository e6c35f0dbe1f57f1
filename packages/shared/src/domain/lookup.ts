import { backoffMs, retryAfterMs } from './backoff.js';
import type { LookupSpec, RetryPolicy } from './compensation.js';
import { resolvePointer } from './json-pointer.js';
import { JsonText, nodeText, parseJson } from './json-text.js';
import type { Exchange } from './verdict.js';

/** What one look for an effect came to. `failed`: nobody could look, which is never "not there". */
export type Looked =
  | { readonly kind: 'found'; readonly result: JsonText }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly retryAfter: string | undefined };

/** What earlier looks for the same effect came to; kept in Postgres, as is everything that outlives a step. */
export interface LookupMemory {
  /** How long ago the effect was first seen to be absent, by the database's clock. */
  readonly absentForMs: number | null;
  readonly failed: number;
}

export type LookupDecision =
  | { readonly kind: 'effect_absent' | 'lookup_failed' }
  | { readonly kind: 'look_again'; readonly delayMs: number; readonly looked: 'absent' | 'failed' };

/**
 * A 2xx whose body has something at the pointer found the effect; a listed status, or a readable body without it, says
 * that nothing is there. A redirect, an error, or a body that can't be read says nothing.
 */
export function judgeLookup(exchange: Exchange, spec: LookupSpec): Looked {
  if (exchange.kind !== 'answer') return { kind: 'failed', retryAfter: undefined };
  const { status, body, retryAfter } = exchange;
  const failed = { kind: 'failed', retryAfter } as const;
  if (status >= 300 && status < 400) return failed;
  if (spec.absent_on_status.includes(status)) return { kind: 'absent' };
  if (status < 200 || status >= 300 || body === undefined) return failed;
  const parsed = parseJson(body);
  if (!parsed.ok) return failed;
  const found = resolvePointer(parsed.node, spec.result_pointer);
  return found === undefined ? { kind: 'absent' } : { kind: 'found', result: new JsonText(nodeText(found)) };
}

/**
 * What follows from a look that found nothing. One absence is no proof, as the call may still land and a vendor's list
 * may lag; so it takes a second one, `settle_ms` after the first. Looks that failed have the budget of the undo's
 * retries.
 */
export function afterLookup(
  looked: Exclude<Looked, { kind: 'found' }>,
  input: {
    readonly memory: LookupMemory;
    readonly settleMs: number;
    readonly maxRetries: number;
    readonly retry: RetryPolicy;
    readonly nowMs: number;
    readonly random: number;
  },
): LookupDecision {
  const { memory, settleMs } = input;
  switch (looked.kind) {
    case 'absent': {
      const leftMs = settleMs - (memory.absentForMs ?? 0);
      if (memory.absentForMs !== null && leftMs <= 0) return { kind: 'effect_absent' };
      return { kind: 'look_again', delayMs: Math.max(1, leftMs), looked: 'absent' };
    }
    case 'failed': {
      if (memory.failed >= input.maxRetries) return { kind: 'lookup_failed' };
      const backoff = backoffMs(memory.failed, input.retry, input.random);
      const asked = retryAfterMs(looked.retryAfter, input.nowMs) ?? 0;
      return { kind: 'look_again', delayMs: Math.max(backoff, asked), looked: 'failed' };
    }
    default:
      return looked satisfies never;
  }
}
