import type { UndoState } from './states.js';
import type { UndoCode } from './undo-codes.js';

/** What a try looked like from outside: an answer, or the way in which there was none. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** The answer's body as text when it was read whole and is within the limit; undefined when cut. */
      readonly body: string | undefined;
      readonly retryAfter: string | undefined;
      /** Where the vendor says that the work it has accepted can be followed. */
      readonly location?: string | undefined;
      /** The vendor says that it repeats a stored answer. */
      readonly replayed?: boolean;
    }
  /** No byte was sent: refused, unreachable, name not resolved, TLS refused. */
  | { readonly kind: 'not_sent'; readonly error: string }
  /** The address is not allowed; nothing was sent. */
  | { readonly kind: 'blocked'; readonly error: string }
  /** Something was sent and no whole answer came back: timeout, reset, unreadable answer. */
  | { readonly kind: 'no_answer'; readonly error: string };

/** One try's outcome as it is kept in `undolog_attempts`. */
export const ATTEMPT_OUTCOMES = ['done', 'refused', 'retry', 'unknown'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/**
 * What one try means for its entry.
 *
 * - `done`: the vendor says that it is undone.
 * - `refused`: it did not happen; `permanent` says that asking again is useless.
 * - `unknown`: it may have happened.
 * - `not_sent`: this try did nothing at all.
 */
export type Verdict =
  | { readonly kind: 'done'; readonly accepted: boolean }
  | { readonly kind: 'refused'; readonly permanent: boolean; readonly code: UndoCode }
  | { readonly kind: 'unknown'; readonly permanent: boolean; readonly code: UndoCode }
  | { readonly kind: 'not_sent' };

export type UndoProof = 'confirmed' | 'answered';

/** How an entry leaves `running`, or that it stays there for its next step: a try, a look-up, another look at the record. */
export type Settlement =
  | { readonly kind: 'settled'; readonly state: Extract<UndoState, 'compensated'>; readonly proof: UndoProof }
  | { readonly kind: 'settled'; readonly state: Extract<UndoState, 'failed' | 'unconfirmed'>; readonly code: UndoCode }
  | { readonly kind: 'settled'; readonly state: Extract<UndoState, 'skipped'>; readonly reason: string }
  | {
      readonly kind: 'retry';
      readonly delayMs: number;
      /** What the last step met; null when it met nothing out of the ordinary. */
      readonly code: UndoCode | null;
      /** What a look for the effect came to that decides nothing by itself; remembered with the entry. */
      readonly looked?: 'absent' | 'failed';
    }
  /** As `retry`, but what was tried uses up nothing of the budget: it is not the entry's fault. */
  | { readonly kind: 'parked'; readonly delayMs: number; readonly code: UndoCode };
