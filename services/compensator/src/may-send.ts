import { afterLookup } from '@undolog/shared/domain/lookup';
import type { Compensation } from '@undolog/shared/domain/compensation';
import type { Settlement } from '@undolog/shared/domain/verdict';
import { nowMs, random } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import type { Agreement } from '@undolog/shared/vendor/ask-record';
import { unconfirmed } from './settlements.js';

type Times = Pick<ClaimedEntry, 'effectAgeMs' | 'keyAgeMs'>;

/** The vendor undoes it no more. */
export function isTooLate({ effectAgeMs }: Times, { undo_deadline_seconds: seconds }: Compensation): boolean {
  return seconds !== undefined && effectAgeMs > seconds * 1000;
}

/** The vendor may have forgotten the key, and would take a repeated call for a new one. */
function isKeyExpired({ keyAgeMs }: Times, { key_ttl_seconds: seconds }: Compensation): boolean {
  return keyAgeMs !== null && keyAgeMs > seconds * 1000;
}

/**
 * Why no call may be sent now, after the vendor's record was asked and did not agree; undefined: one may.
 *
 * Past the deadline it is UndoLog that refuses, as with an address that is not allowed: where no call can have taken, the
 * undo did certainly not happen. Past the key's life a record that shows the effect standing permits the call; one that
 * can't be read is asked again, as often as a call is retried.
 */
export function whyNotSent(entry: ClaimedEntry, spec: Compensation, shown: Agreement): Settlement | undefined {
  if (isTooLate(entry, spec)) {
    const code = 'undo_deadline_passed';
    return entry.keyAgeMs === null ? { kind: 'settled', state: 'failed', code } : unconfirmed(code);
  }
  if (!entry.mayCall) return unconfirmed('stalled');
  if (!isKeyExpired(entry, spec) || shown === 'not_done' || shown === 'failed') return undefined;
  if (!spec.confirm) return unconfirmed('key_expired');
  const { lookups: memory, maxRetries } = entry;
  const rules = { memory, settleMs: 0, maxRetries, retry: spec.retry, nowMs: nowMs(), random: random() };
  const next = afterLookup({ kind: 'failed', retryAfter: undefined }, rules);
  if (next.kind !== 'look_again') return unconfirmed('key_expired');
  return { kind: 'retry', delayMs: next.delayMs, code: 'key_expired', looked: 'failed' };
}
