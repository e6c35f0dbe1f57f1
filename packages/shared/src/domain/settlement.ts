import { backoffMs, retryAfterMs } from './backoff.js';
import type { RetryPolicy } from './compensation.js';
import type { UndoCode } from './undo-codes.js';
import type { UnsealFault } from './vault.js';
import type { Settlement, Verdict } from './verdict.js';

export interface SettlementInput {
  /** Of a try that was not done; one that was done is a matter of proof. */
  readonly verdict: Exclude<Verdict, { kind: 'done' }>;
  /** Tries of this round, this one included. */
  readonly attemptsInRound: number;
  readonly maxRetries: number;
  /** Whether any try of any round, this one included, has an outcome that nobody knows. */
  readonly sawUnknown: boolean;
  readonly retry: RetryPolicy;
  /** The Retry-After header of the answer. */
  readonly retryAfter: string | undefined;
  readonly nowMs: number;
  readonly random: number;
}

function codeOf(verdict: SettlementInput['verdict']): UndoCode {
  return verdict.kind === 'not_sent' ? 'endpoint_unreachable' : verdict.code;
}

function isPermanent(verdict: SettlementInput['verdict']): boolean {
  return verdict.kind !== 'not_sent' && verdict.permanent;
}

/**
 * What becomes of an entry after a try that was not done.
 *
 * It ends `failed` only when no try was ever unknown and the last one was refused: then it is certain that nothing was
 * undone. In every other case it is `unconfirmed`: attempted, and nobody can say more.
 *
 * Its code is that of the last try, with one exception: where the last try was refused but an earlier one is unknown,
 * `http_409` would read as a plain refusal, so it is `outcome_unknown`.
 */
export function settle(input: SettlementInput): Settlement {
  const { verdict, attemptsInRound, maxRetries, retry } = input;
  const code = codeOf(verdict);
  if (!isPermanent(verdict) && attemptsInRound <= maxRetries) {
    const backoff = backoffMs(attemptsInRound - 1, retry, input.random);
    const asked = retryAfterMs(input.retryAfter, input.nowMs) ?? 0;
    return { kind: 'retry', delayMs: Math.max(backoff, asked), code };
  }
  if (verdict.kind !== 'refused') return { kind: 'settled', state: 'unconfirmed', code };
  if (input.sawUnknown) return { kind: 'settled', state: 'unconfirmed', code: 'outcome_unknown' };
  return { kind: 'settled', state: 'failed', code };
}

/** How often somebody looks whether a missing encryption key has come back. */
const KEY_MISSING_WAIT_MS = 10_000;

/** Why an entry can't be called: it can't be read, or a secret that it names is gone. */
export type UnreadableCode = UnsealFault | 'unknown_secret';

/** What becomes of an entry that can't be called: a key may come back, a damaged value does not by itself. */
export function settleUnreadable(fault: UnreadableCode): Settlement {
  switch (fault) {
    case 'encryption_key_missing':
      return { kind: 'parked', delayMs: KEY_MISSING_WAIT_MS, code: fault };
    case 'value_damaged':
    case 'unknown_secret':
      return { kind: 'settled', state: 'unconfirmed', code: fault };
    default:
      return fault satisfies never;
  }
}
