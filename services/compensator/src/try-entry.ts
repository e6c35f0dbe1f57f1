import type { Compensation } from '@undolog/shared/domain/compensation';
import type { JsonText } from '@undolog/shared/domain/json-text';
import { afterLookup } from '@undolog/shared/domain/lookup';
import type { Settlement } from '@undolog/shared/domain/verdict';
import { nowMs, random } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { callVendor, type CallContext, type Tried } from './call-vendor.js';
import type { UndoCall } from '@undolog/shared/vendor/compensation-call';
import { askOnce, confirmUrl, type Agreement } from '@undolog/shared/vendor/ask-record';
import { boundBody } from '@undolog/shared/vendor/bound-body';
import { confirmDone } from './confirm.js';
import { lookUp } from '@undolog/shared/vendor/lookup';
import { isTooLate, whyNotSent } from './may-send.js';
import { CONFIRMED, HANDED_OVER, unconfirmed } from './settlements.js';

export interface TryContext extends CallContext {
  /** Commits the row of a try that the claim has not opened. @returns false when the claim is lost. */
  openAttempt(found: JsonText | null): Promise<boolean>;
}

function callOf(entry: ClaimedEntry, spec: Compensation, body: string, { traceparent }: TryContext): UndoCall {
  return {
    spec,
    body,
    undoId: entry.undoId,
    sessionId: entry.sessionId,
    effectId: entry.effectId,
    outcome: entry.effectOutcome,
    attempt: entry.attempt,
    traceparent,
  };
}

const uncalled = (settlement: Settlement): Tried => ({ attempt: null, settlement });

/** Looks for an effect that nobody has reported. Only one that was found may be undone by a call. */
async function findEffect(
  entry: ClaimedEntry,
  call: UndoCall,
  { client, signal }: TryContext,
): Promise<{ readonly found: JsonText } | { readonly settlement: Settlement }> {
  const looked = await lookUp(client, call, signal);
  switch (looked.kind) {
    case 'found':
      return { found: looked.result };
    case 'no_address':
      return { settlement: unconfirmed('missing_result') };
    case 'abandoned':
      return { settlement: HANDED_OVER };
    case 'absent':
    case 'failed':
      break;
    default:
      looked satisfies never;
  }
  const { maxRetries, lookups: memory } = entry;
  const { lookup, retry } = call.spec;
  const time = { nowMs: nowMs(), random: random() };
  const next = afterLookup(looked, { memory, settleMs: lookup!.settle_ms, maxRetries, retry, ...time });
  switch (next.kind) {
    case 'effect_absent':
      return { settlement: { kind: 'settled', state: 'skipped', reason: 'effect_absent' } };
    case 'lookup_failed':
      return { settlement: unconfirmed('lookup_failed') };
    case 'look_again': {
      const { delayMs, looked: seen } = next;
      return { settlement: { kind: 'retry', delayMs, code: seen === 'failed' ? 'lookup_failed' : null, looked: seen } };
    }
    default:
      return next satisfies never;
  }
}

/** Before a call is repeated, or given up, the vendor's record may show that it took. */
async function askBeforehand(entry: ClaimedEntry, call: UndoCall, context: TryContext): Promise<Agreement> {
  const again = entry.attempt > 1 || !entry.mayCall || isTooLate(entry, call.spec);
  return again && call.spec.confirm ? askOnce(call, context) : 'not_agreed';
}

/**
 * One step of a claimed entry:
 *
 * ```
 * vendor said done       → its record is asked
 * effect of unknown fate → looked up; found: go on
 * tried before           → its record is asked; not there: go on
 * too late, key too old  → nothing is sent
 * otherwise              → at most one call, and if that is done the first question to the record
 * ```
 */
export async function tryEntry(entry: ClaimedEntry, spec: Compensation, context: TryContext): Promise<Tried> {
  if (!entry.mayAsk) return uncalled(unconfirmed('stalled'));
  const { confirming, sawUnknown } = entry;
  let found: JsonText | null = null;
  if (spec.lookup && entry.effectOutcome === 'unknown' && !entry.found) {
    const looked = await findEffect(entry, callOf(entry, spec, entry.args.text, context), context);
    if ('settlement' in looked) return uncalled(looked.settlement);
    found = looked.found;
  }
  const body = boundBody(entry, found ?? entry.result);
  if (body === undefined) return uncalled(unconfirmed('missing_result'));
  const call = callOf(entry, spec, body, context);
  if (spec.confirm && confirmUrl(call) === undefined) return uncalled(unconfirmed('missing_result'));
  if (confirming) return uncalled(await confirmDone(call, confirming, sawUnknown, context));

  const agreement = await askBeforehand(entry, call, context);
  if (agreement === 'agreed') return uncalled(CONFIRMED);
  if (agreement === 'abandoned') return uncalled(HANDED_OVER);
  const refused = whyNotSent(entry, spec, agreement);
  if (refused) return uncalled(refused);
  if (!entry.attemptOpen && !(await context.openAttempt(found))) return undefined;
  return callVendor(entry, call, context);
}
