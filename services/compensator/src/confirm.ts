import { MAX_URL_CHARS } from '@undolog/shared/domain/limits';
import type { Exchange, Settlement } from '@undolog/shared/domain/verdict';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { askOnce, type Question } from '@undolog/shared/vendor/ask-record';
import type { UndoCall } from '@undolog/shared/vendor/compensation-call';
import { CONFIRMED, HANDED_OVER, unconfirmed } from './settlements.js';

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
