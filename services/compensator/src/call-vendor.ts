import { classify } from '@undolog/shared/domain/classify';
import { settle } from '@undolog/shared/domain/settlement';
import type { AttemptOutcome, Exchange, Verdict } from '@undolog/shared/domain/verdict';
import { monotonicMs, nowMs, random } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import type { SettleEntry } from '@undolog/shared/store/settle-entries';
import type { UndoCall, VendorClient } from '@undolog/shared/vendor/compensation-call';
import { askOnce, type Agreement } from '@undolog/shared/vendor/ask-record';
import { confirmDone, locationOf } from './confirm.js';
import { answerHash, isReplay } from './replay.js';
import { ANSWERED, CONFIRMED, HANDED_OVER, unconfirmed } from './settlements.js';

export type Attempt = NonNullable<SettleEntry['attempt']>;

export interface CallContext {
  /** What the vendor is told of the trace. */
  readonly traceparent: string;
  readonly client: VendorClient;
  /** Asked just before the call leaves. */
  stillHeld(): Promise<boolean>;
  /** Commits the vendor's "done" before its record is asked. @returns false when the claim is lost. */
  recordDone(done: Attempt, budgetMs: number, location: string | null): Promise<boolean>;
  /** Aborted when the process can wait no longer for calls that are open. */
  readonly signal: AbortSignal;
}

/** What became of a step; undefined: the claim was lost, and nothing may be written. */
export type Tried = Pick<SettleEntry, 'attempt' | 'settlement'> | undefined;

function attemptOutcome(verdict: Verdict): AttemptOutcome {
  switch (verdict.kind) {
    case 'done':
    case 'unknown':
      return verdict.kind;
    case 'refused':
      return verdict.permanent ? 'refused' : 'retry';
    case 'not_sent':
      return 'retry';
    default:
      return verdict satisfies never;
  }
}

function attemptRow(exchange: Exchange, verdict: Verdict, startedMs: number): Attempt {
  return {
    status: exchange.kind === 'answer' ? exchange.status : null,
    outcome: attemptOutcome(verdict),
    error: exchange.kind === 'answer' ? null : exchange.error,
    durationMs: Math.round((monotonicMs() - startedMs) * 1000) / 1000,
  };
}

/** A "done" counts as it is, or only when the vendor's own record agrees, where the compensation says how to ask. */
async function proveDone(
  entry: ClaimedEntry,
  call: UndoCall,
  done: { readonly accepted: boolean; readonly exchange: Exchange; readonly attempt: Attempt },
  context: CallContext,
): Promise<Tried> {
  const { accepted, attempt } = done;
  if (!call.spec.confirm) return { attempt, settlement: accepted ? unconfirmed('not_confirmed') : ANSWERED };
  const leftMs = call.spec.confirm.budget_ms;
  const location = locationOf(done.exchange, call);
  const startedMs = monotonicMs();
  if (!(await context.recordDone(attempt, leftMs, location))) return undefined;
  const confirming = { leftMs: leftMs - (monotonicMs() - startedMs), location };
  return { attempt, settlement: await confirmDone(call, confirming, entry.sawUnknown, context) };
}

async function askVendor(call: UndoCall, context: CallContext): Promise<Agreement> {
  return call.spec.confirm ? askOnce(call, context) : 'not_agreed';
}

/** One call and its verdict. The attempt's row is committed. */
export async function callVendor(entry: ClaimedEntry, call: UndoCall, context: CallContext): Promise<Tried> {
  if (!(await context.stillHeld())) return undefined;
  const startedMs = monotonicMs();
  const exchange = await context.client.call(call, context.signal);
  const judged = classify(exchange, call.spec.outcomes);
  const replayed = judged.kind === 'unknown' && isReplay(exchange, call, entry.answerHash);
  const verdict = replayed ? { ...judged, permanent: true } : judged;
  // The process goes, and the vendor has seen nothing: that is no try of the entry's.
  if (verdict.kind === 'not_sent' && context.signal.aborted) return { attempt: null, settlement: HANDED_OVER };
  const seen = attemptRow(exchange, verdict, startedMs);
  const attempt = { ...seen, error: replayed ? 'replayed' : seen.error, answerHash: answerHash(exchange, call) };
  if (verdict.kind === 'done') {
    return proveDone(entry, call, { accepted: verdict.accepted, exchange, attempt }, context);
  }
  const settlement = settle({
    verdict,
    attemptsInRound: entry.attemptsInRound,
    maxRetries: entry.maxRetries,
    sawUnknown: entry.sawUnknown || verdict.kind === 'unknown',
    retry: call.spec.retry,
    retryAfter: exchange.kind === 'answer' ? exchange.retryAfter : undefined,
    nowMs: nowMs(),
    random: random(),
  });
  if (settlement.kind === 'retry') return { attempt, settlement };
  // The record may show what the answers did not.
  const agreement = await askVendor(call, context);
  if (agreement === 'agreed') return { attempt, settlement: CONFIRMED };
  return { attempt, settlement: agreement === 'abandoned' ? HANDED_OVER : settlement };
}
