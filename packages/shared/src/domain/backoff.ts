import type { RetryPolicy } from './compensation.js';
import { MAX_PARK_MS } from './limits.js';

/** A wait of nothing would make a hot loop. */
const MIN_DELAY_MS = 1;

/**
 * The wait before retry `k`, counted from 0: min(initial × multiplier^k, max), then jitter.
 *
 * @param random from 0 up to 1; `full` jitter spreads over the whole delay, `equal` over its upper half.
 */
export function backoffMs(k: number, policy: RetryPolicy, random: number): number {
  // The power overflows to Infinity for large k, which min() takes back to the cap.
  const delay = Math.min(policy.initial_ms * policy.multiplier ** k, policy.max_ms);
  switch (policy.jitter) {
    case 'none':
      return Math.max(MIN_DELAY_MS, Math.round(delay));
    case 'equal':
      return Math.max(MIN_DELAY_MS, Math.round(delay / 2 + (delay / 2) * random));
    case 'full':
      return Math.max(MIN_DELAY_MS, Math.round(delay * random));
    default:
      return policy.jitter satisfies never;
  }
}

const SECONDS = /^\d+$/;
/** The one form of date that HTTP still sends; `Date.parse` takes far more, such as `-3`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long a Retry-After asks to wait, at most 24 h; undefined for nothing, zero, the past, or what is neither whole
 * seconds nor an HTTP date.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  let waitMs = Number.NaN;
  if (SECONDS.test(text)) waitMs = Number(text) * 1000;
  else if (HTTP_DATE.test(text)) waitMs = Date.parse(text) - nowMs;
  return waitMs > 0 ? Math.min(waitMs, MAX_PARK_MS) : undefined;
}
