import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs, retryAfterMs } from '@undolog/shared/domain/backoff';
import { DEFAULT_RETRY, JITTERS, type RetryPolicy } from '@undolog/shared/domain/compensation';
import { MAX_PARK_MS } from '@undolog/shared/domain/limits';

const policy = (some: Partial<RetryPolicy>): RetryPolicy => ({ ...DEFAULT_RETRY, ...some });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the wait before a retry', () => {
  test('C81: grows 100, 200, 400 and stays at the cap', () => {
    const delays = [0, 1, 2, 3, 4, 5, 6, 7, 60].map((k) => backoffMs(k, policy({ jitter: 'none' }), 0.5));
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  });

  test('C81: is more than 0 and at most the cap, for every retry, jitter and chance', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.constantFrom(...JITTERS), chance, (k, jitter, random) => {
        const delay = backoffMs(k, policy({ jitter }), random);
        expect(delay).toBeGreaterThan(0);
        expect(delay).toBeLessThanOrEqual(5000);
        const full = Math.min(100 * 2 ** k, 5000);
        if (jitter === 'equal') expect(delay).toBeGreaterThanOrEqual(full / 2);
        expect(delay).toBeLessThanOrEqual(full);
      }),
    );
  });

  test('C81: is still spread over its whole range when it has reached the cap', () => {
    const spread = (jitter: 'full' | 'equal'): number[] =>
      [0, 0.25, 0.5, 0.75, 0.999_999].map((random) => backoffMs(40, policy({ jitter }), random));
    expect(spread('full')).toEqual([1, 1250, 2500, 3750, 5000]);
    expect(spread('equal')).toEqual([2500, 3125, 3750, 4375, 5000]);
  });

  test('is a whole, positive number of milliseconds under every policy that can be registered, and beyond', () => {
    const any = fc.record({
      max_retries: fc.constant(20),
      initial_ms: fc.integer({ min: 0, max: 3_600_000 }),
      multiplier: fc.double({ min: 1, max: 100, noNaN: true }),
      max_ms: fc.integer({ min: 0, max: 3_600_000 }),
      jitter: fc.constantFrom(...JITTERS),
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5000 }), any, chance, (k, some, random) => {
        const delay = backoffMs(k, some, random);
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(1);
        expect(delay).toBeLessThanOrEqual(Math.max(1, some.max_ms));
      }),
    );
  });

  test('is never nothing, not even for an initial wait of 0 and a power that overflows', () => {
    expect(backoffMs(2000, policy({ initial_ms: 0, jitter: 'none' }), 0)).toBe(1);
  });
});

describe('C62: a Retry-After', () => {
  const nowMs = Date.UTC(2026, 0, 31, 23, 59, 58);

  test.each([
    ['2', 2000],
    [' 2 ', 2000],
    ['007', 7000],
    ['86400', MAX_PARK_MS],
    ['86401', MAX_PARK_MS],
    ['9999999999', MAX_PARK_MS],
    ['9'.repeat(400), MAX_PARK_MS],
    ['Sun, 01 Feb 2026 00:00:01 GMT', 3000],
    ['Mon, 01 Feb 2027 00:00:00 GMT', MAX_PARK_MS],
    ['Sunday, 01-Feb-26 00:00:01 GMT', 3000],
    ['Sun Feb  1 00:00:01 2026', 3000],
    ['Sun Feb 01 00:00:01 2026', 3000],
  ])('of %s is honoured, up to a day', (header, waitMs) => {
    expect(retryAfterMs(header, nowMs)).toBe(waitMs);
  });

  test.each([
    [undefined],
    [''],
    ['0'],
    ['000'],
    ['-3'],
    ['+3'],
    ['1.5'],
    ['1e3'],
    ['0x10'],
    ['Infinity'],
    ['soon'],
    ['2 seconds'],
    ['2, 3'],
    ['٣'],
    ['2027-02-01'],
    ['Sat, 31 Jan 2026 23:59:58 GMT'],
    ['Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Xyz, 99 Foo 2027 99:99:99 GMT'],
    ['Mon, 01 Feb 2027 25:00:00 GMT'],
    ['Mon, 01 Feb 2027 00:00:00 CET'],
    ['Sunday, 06-Nov-94 08:49:37 GMT'],
    ['Sun Nov  6 08:49:37 1994'],
  ])('of %j says nothing, so that the backoff holds', (header) => {
    expect(retryAfterMs(header, nowMs)).toBeUndefined();
  });

  test('is nothing, or a wait of 1 ms to a day, whatever the vendor writes', () => {
    const text = fc.oneof(
      fc.string(),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((d) => d.toUTCString()),
    );
    fc.assert(
      fc.property(text, (header) => {
        const waitMs = retryAfterMs(header, nowMs) ?? 1;
        expect(waitMs).toBeGreaterThanOrEqual(1);
        expect(waitMs).toBeLessThanOrEqual(MAX_PARK_MS);
      }),
    );
  });
});
