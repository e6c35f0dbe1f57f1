import { classify } from '@undolog/shared/domain/classify';
import type { Compensation } from '@undolog/shared/domain/compensation';
import { bindResult } from '@undolog/shared/domain/references';
import { settle } from '@undolog/shared/domain/settlement';
import type { AttemptOutcome, Exchange, Settlement, Verdict } from '@undolog/shared/domain/verdict';
import { monotonicMs, nowMs, random } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import type { SettleEntry } from '@undolog/shared/store/settle-entries';
import type { UndoCall, VendorClient } from './compensation-call.js';
import { askOnce, confirmUrl, pollUntilAgreed, type Agreement } from './confirm.js';
import { childTraceparent } from './trace-context.js';

export interface TryContext {
  readonly client: VendorClient;
  /** Asked just before the call leaves. */
  stillHeld(): Promise<boolean>;
  /** Aborted when the process can wait no longer for calls that are open. */
  readonly signal: AbortSignal;
}

/** What became of a try; undefined: the claim was lost before the call left, and nothing may be written. */
export type Tried = Pick<SettleEntry, 'attempt' | 'settlement'> | undefined;

type Attempt = NonNullable<SettleEntry['attempt']>;

const CONFIRMED: Settlement = { kind: 'settled', state: 'compensated', proof: 'confirmed' };
const ANSWERED: Settlement = { kind: 'settled', state: 'compensated', proof: 'answered' };

/** The process goes before it could finish; the next worker starts with the vendor's record. */
const HANDED_OVER: Settlement = { kind: 'retry', delayMs: 1, code: 'stalled' };

function unconfirmed(code: string): Settlement {
  return { kind: 'settled', state: 'unconfirmed', code };
}

/** The arguments as they are sent, the same text on every try; undefined when the call's result is not known. */
function boundBody(entry: ClaimedEntry): string | undefined {
  if (!entry.needsResult) return entry.args.text;
  if (entry.result === null) return undefined;
  const bound = bindResult(entry.args.text, entry.result.text);
  return bound.ok ? bound.text : undefined;
}

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
async function proveDone(call: UndoCall, accepted: boolean, attempt: Attempt, context: TryContext): Promise<Tried> {
  if (!call.spec.confirm) return { attempt, settlement: accepted ? unconfirmed('not_confirmed') : ANSWERED };
  const agreement = await pollUntilAgreed(context.client, call, context.signal);
  if (agreement === 'agreed') return { attempt, settlement: CONFIRMED };
  if (agreement === 'not_agreed') return { attempt, settlement: unconfirmed('not_confirmed') };
  // Nobody has looked to the end, so this try is one of those of which nobody knows.
  return { attempt: { ...attempt, outcome: 'unknown', error: 'abandoned' }, settlement: HANDED_OVER };
}

async function askVendor(call: UndoCall, context: TryContext): Promise<Agreement> {
  return call.spec.confirm ? askOnce(context.client, call, context.signal) : 'not_agreed';
}

async function callVendor(entry: ClaimedEntry, call: UndoCall, context: TryContext): Promise<Tried> {
  if (!(await context.stillHeld())) return undefined;
  const startedMs = monotonicMs();
  const exchange = await context.client.call(call, context.signal);
  const verdict = classify(exchange, call.spec.outcomes);
  // The process goes, and the vendor has seen nothing: that is no try of the entry's.
  if (verdict.kind === 'not_sent' && context.signal.aborted) return { attempt: null, settlement: HANDED_OVER };
  const attempt = attemptRow(exchange, verdict, startedMs);
  if (verdict.kind === 'done') return proveDone(call, verdict.accepted, attempt, context);
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

/** One try of a claimed entry: at most one call, with the vendor's record asked where it can be. */
export async function tryEntry(entry: ClaimedEntry, spec: Compensation, context: TryContext): Promise<Tried> {
  const body = boundBody(entry);
  if (body === undefined) return { attempt: null, settlement: unconfirmed('missing_result') };
  const call: UndoCall = {
    spec,
    body,
    undoId: entry.undoId,
    sessionId: entry.sessionId,
    effectId: entry.effectId,
    outcome: entry.effectOutcome,
    attempt: entry.attempt,
    traceparent: childTraceparent(entry.traceparent),
  };
  if (spec.confirm && confirmUrl(call) === undefined) {
    return { attempt: null, settlement: unconfirmed('missing_result') };
  }
  const again = entry.attempt > 1 || !entry.mayCall;
  const agreement = again ? await askVendor(call, context) : 'not_agreed';
  if (agreement === 'agreed') return { attempt: null, settlement: CONFIRMED };
  if (agreement === 'abandoned') return { attempt: null, settlement: HANDED_OVER };
  if (!entry.mayCall) return { attempt: null, settlement: unconfirmed('stalled') };
  return callVendor(entry, call, context);
}
