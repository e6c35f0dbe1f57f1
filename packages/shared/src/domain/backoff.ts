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
  // The power overflows to Infinity for large k, and 0 × Infinity would be no number at all.
  const factor = Math.min(policy.multiplier ** k, Number.MAX_VALUE);
  const delay = Math.min(policy.initial_ms * factor, policy.max_ms);
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

const CLOCK = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`;
/** The three forms of a date that whoever reads HTTP must know (RFC 9110); `Date.parse` takes far more, such as `-3`. */
const HTTP_DATES = [
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${CLOCK} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${CLOCK} GMT$`),
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${CLOCK} (?<year>\d{4})$`),
];
const FIFTY_YEARS_MS = 50 * 365.25 * 86_400_000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Milliseconds since 1970; NaN for what is no HTTP date. */
function httpDateMs(text: string, nowMs: number): number {
  for (const form of HTTP_DATES) {
    const { day, month, year, hour, minute, second } = form.exec(text)?.groups ?? {};
    if (day === undefined) continue;
    const monthIndex = MONTHS.indexOf(month!);
    if (monthIndex < 0 || Number(day) < 1 || Number(day) > 31) return Number.NaN;
    const inYear = (fullYear: number): number =>
      Date.UTC(fullYear, monthIndex, Number(day), Number(hour), Number(minute), Number(second));
    if (year!.length === 4) return inYear(Number(year));
    // A year of two digits that seems to be more than 50 years ahead is one of the past.
    const soon = inYear(2000 + Number(year));
    return soon - nowMs > FIFTY_YEARS_MS ? inYear(1900 + Number(year)) : soon;
  }
  return Number.NaN;
}

/**
 * How long a Retry-After asks to wait, at most 24 h; undefined for nothing, zero, the past, or what is neither whole
 * seconds nor an HTTP date.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  let waitMs = Number.NaN;
  if (SECONDS.test(text)) waitMs = Number(text) * 1000;
  else waitMs = httpDateMs(text, nowMs) - nowMs;
  return waitMs > 0 ? Math.min(waitMs, MAX_PARK_MS) : undefined;
}
