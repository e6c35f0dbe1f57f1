import type { ConfirmSpec } from '@undolog/shared/domain/compensation';
import { exactValue } from '@undolog/shared/domain/exact-value';
import { resolvePointer } from '@undolog/shared/domain/json-pointer';
import { parseJson } from '@undolog/shared/domain/json-text';
import { MAX_URL_CHARS } from '@undolog/shared/domain/limits';
import { sameValue } from '@undolog/shared/domain/same-value';
import type { Exchange, Settlement } from '@undolog/shared/domain/verdict';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import type { UndoCall, VendorClient } from './compensation-call.js';
import { CONFIRMED, HANDED_OVER, unconfirmed } from './settlements.js';
import { fillTemplate } from './url-template.js';

/** Where the vendor's record of this undo is; undefined where the compensation has none, or it can't be filled in. */
export function confirmUrl(call: UndoCall): string | undefined {
  return call.spec.confirm && fillTemplate(call.spec.confirm.url, call);
}

/**
 * Where an accepted undo can be followed: the Location of a 202, if it names the very host that was called. A record
 * elsewhere is not the word of this vendor.
 */
export function locationOf(exchange: Exchange, call: UndoCall): string | null {
  if (exchange.kind !== 'answer' || exchange.status !== 202 || exchange.location === undefined) return null;
  if (!URL.canParse(exchange.location, call.spec.url)) return null;
  const url = new URL(exchange.location, call.spec.url);
  if (url.origin !== new URL(call.spec.url).origin || url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href.length <= MAX_URL_CHARS ? url.href : null;
}

/** `not_done`: the record was read and shows the effect standing; `not_agreed`: it says nothing. */
type Shown = 'agreed' | 'failed' | 'not_done' | 'not_agreed';

/**
 * What the record says. An error, a redirect or an answer without the value says nothing.
 *
 * @param statuses those that say "gone" by themselves.
 */
function shownBy(answer: Exchange, spec: ConfirmSpec, statuses: readonly number[]): Shown {
  if (answer.kind !== 'answer' || (answer.status >= 300 && answer.status < 400)) return 'not_agreed';
  if (statuses.includes(answer.status)) return 'agreed';
  if (answer.status < 200 || answer.status >= 300 || answer.body === undefined) return 'not_agreed';
  const parsed = parseJson(answer.body);
  if (!parsed.ok) return 'not_agreed';
  const holds = (pointer: string, values: readonly unknown[]): boolean => {
    const found = resolvePointer(parsed.node, pointer);
    return found !== undefined && values.some((value) => sameValue(exactValue(found), value));
  };
  const { done_when: done, failed_when: failed } = spec;
  if (done && holds(done.pointer, [done.equals])) return 'agreed';
  if (failed && holds(failed.pointer, failed.in ?? [failed.equals])) return 'failed';
  return !done || resolvePointer(parsed.node, done.pointer) ? 'not_done' : 'not_agreed';
}

/** `abandoned`: the signal was aborted before the record agreed, so nobody can say that it does not. */
export type Agreement = Shown | 'abandoned';

export interface Question {
  readonly client: VendorClient;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Where the vendor said that its work can be followed; its word counts as much as the record's. */
  readonly location?: string | null;
}

/** Asks the vendor's record once. A compensation without a record, or without the values to find it, has no agreement. */
export async function askOnce(call: UndoCall, question: Question): Promise<Agreement> {
  const { client, signal, timeoutMs = call.spec.timeout_ms, location = null } = question;
  const url = confirmUrl(call);
  if (url === undefined || !call.spec.confirm) return 'not_agreed';
  // A status that says "gone" of the record says nothing of the place where the work was followed.
  const places = [
    ...(location === null ? [] : [{ url: location, statuses: [] }]),
    { url, statuses: call.spec.confirm.done_on_status },
  ];
  let shown: Shown = 'not_agreed';
  for (const place of places) {
    shown = shownBy(await client.ask(place.url, call, timeoutMs, signal), call.spec.confirm, place.statuses);
    if (shown === 'agreed' || shown === 'failed') return shown;
  }
  return shown === 'not_agreed' && signal.aborted ? 'abandoned' : shown;
}

/** However little of the budget is left, an answer gets this long. */
const MIN_ASK_MS = 1000;

/**
 * One look at the record of an undo that the vendor called done, and what follows. The last look comes at the very end
 * of the budget; between looks the entry waits in Postgres and holds no worker.
 *
 * A record that shows the undo as failed is a refusal, unless an earlier try is unknown: then it may have been done.
 */
export async function confirmDone(
  call: UndoCall,
  { leftMs, location }: NonNullable<ClaimedEntry['confirming']>,
  sawUnknown: boolean,
  { client, signal }: Pick<Question, 'client' | 'signal'>,
): Promise<Settlement> {
  const startedMs = monotonicMs();
  const timeoutMs = Math.min(call.spec.timeout_ms, Math.max(MIN_ASK_MS, leftMs));
  const agreement = await askOnce(call, { client, signal, timeoutMs, location });
  switch (agreement) {
    case 'agreed':
      return CONFIRMED;
    case 'failed':
      return sawUnknown ? unconfirmed('outcome_unknown') : { kind: 'settled', state: 'failed', code: 'undo_failed' };
    case 'abandoned':
      return HANDED_OVER;
    case 'not_done':
    case 'not_agreed': {
      const stillMs = leftMs - (monotonicMs() - startedMs);
      if (stillMs <= 0) return unconfirmed('not_confirmed');
      const delayMs = Math.min(call.spec.confirm!.interval_ms, Math.ceil(stillMs));
      return { kind: 'retry', delayMs, code: 'not_confirmed' };
    }
    default:
      return agreement satisfies never;
  }
}
