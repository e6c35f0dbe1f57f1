import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY } from '@undolog/shared/domain/compensation';
import { MAX_PARK_MS } from '@undolog/shared/domain/limits';
import type { UndoCode } from '@undolog/shared/domain/undo-codes';
import { settle, type SettlementInput } from '@undolog/shared/domain/settlement';
import type { Settlement } from '@undolog/shared/domain/verdict';

type Missed = SettlementInput['verdict'];

const retried: Missed = { kind: 'refused', permanent: false, code: 'http_429' };
const refused: Missed = { kind: 'refused', permanent: true, code: 'http_409' };
const blocked: Missed = { kind: 'refused', permanent: true, code: 'url_not_allowed' };
const broken: Missed = { kind: 'unknown', permanent: false, code: 'http_503' };
const silent: Missed = { kind: 'unknown', permanent: false, code: 'outcome_unknown' };
const unreachable: Missed = { kind: 'not_sent' };

function input(verdict: Missed, some: Partial<SettlementInput> = {}): SettlementInput {
  const retry = { ...DEFAULT_RETRY, jitter: 'none' } as const;
  const sawUnknown = verdict.kind === 'unknown';
  const time = { retryAfter: undefined, nowMs: 0, random: 0 };
  return { verdict, attemptsInRound: 1, maxRetries: 3, sawUnknown, retry, ...time, ...some };
}

/** A round as it is played: one verdict after the other until the entry is settled. The last one goes on for ever. */
function play(verdicts: readonly Missed[], some: Partial<SettlementInput> = {}): { calls: number; end: Settlement } {
  let sawUnknown = some.sawUnknown ?? false;
  for (let calls = 1; ; calls++) {
    const verdict = verdicts[Math.min(calls, verdicts.length) - 1]!;
    sawUnknown ||= verdict.kind === 'unknown';
    const end = settle(input(verdict, { ...some, attemptsInRound: calls, sawUnknown }));
    if (end.kind === 'settled') return { calls, end };
  }
}

const failed = (code: UndoCode): Settlement => ({ kind: 'settled', state: 'failed', code });
const unconfirmed = (code: UndoCode): Settlement => ({ kind: 'settled', state: 'unconfirmed', code });

describe('a round of tries', () => {
  test.each<[string, readonly Missed[], number, Settlement]>([
    ['a permanent refusal', [refused], 1, failed('http_409')],
    ['an address that is not allowed', [blocked], 1, failed('url_not_allowed')],
    ['429 for ever', [retried], 4, failed('http_429')],
    ['503 for ever', [broken], 4, unconfirmed('http_503')],
    ['silence for ever', [silent], 4, unconfirmed('outcome_unknown')],
    ['nobody there for ever', [unreachable], 4, unconfirmed('endpoint_unreachable')],
    ['nobody there, then a refusal', [unreachable, refused], 2, failed('http_409')],
    ['refusals, then nobody there', [retried, retried, retried, unreachable], 4, unconfirmed('endpoint_unreachable')],
    ['silence, then a permanent refusal', [silent, refused], 2, unconfirmed('outcome_unknown')],
    ['503, then 429 for ever', [broken, retried], 4, unconfirmed('outcome_unknown')],
    ['429, then 503 at last', [retried, retried, retried, broken], 4, unconfirmed('http_503')],
    ['silence, then nobody there', [silent, unreachable], 4, unconfirmed('endpoint_unreachable')],
    ['silence, then an address that is not allowed', [silent, blocked], 2, unconfirmed('outcome_unknown')],
  ])('of %s ends no surer than its tries were', (_name, verdicts, calls, end) => {
    expect(play(verdicts)).toEqual({ calls, end });
  });

  test('is one call and max_retries more, from 0 to 20', () => {
    for (const maxRetries of [0, 1, 3, 20]) {
      expect(play([broken], { maxRetries }).calls).toBe(maxRetries + 1);
      expect(play([refused], { maxRetries }).calls).toBe(1);
    }
  });

  test('remembers an unknown try of an earlier round', () => {
    expect(play([refused], { sawUnknown: true }).end).toEqual(unconfirmed('outcome_unknown'));
    expect(play([retried], { sawUnknown: true }).end).toEqual(unconfirmed('outcome_unknown'));
  });

  test('ends failed exactly when no try was unknown and the last one was a refusal', () => {
    const some = fc.array(fc.constantFrom(retried, refused, blocked, broken, silent, unreachable), { minLength: 1 });
    fc.assert(
      fc.property(some, fc.integer({ min: 0, max: 5 }), fc.boolean(), (verdicts, maxRetries, before) => {
        const { calls, end } = play(verdicts, { maxRetries, sawUnknown: before });
        const made = Array.from({ length: calls }, (_, at) => verdicts[Math.min(at, verdicts.length - 1)]!);
        const certain = !before && made.every((one) => one.kind !== 'unknown') && made.at(-1)!.kind === 'refused';
        expect(end).toHaveProperty('state', certain ? 'failed' : 'unconfirmed');
      }),
    );
  });
});

describe('the wait for the next try', () => {
  const waits = (some: Partial<SettlementInput>): number | undefined => {
    const next = settle(input(retried, some));
    return next.kind === 'retry' ? next.delayMs : undefined;
  };

  test('C81: of the first retry is the initial one', () => {
    expect([1, 2, 3].map((attemptsInRound) => waits({ attemptsInRound }))).toEqual([100, 200, 400]);
  });

  test('C62: is the longer of backoff and Retry-After, and never nothing', () => {
    expect(waits({ retryAfter: '2' })).toBe(2000);
    expect(waits({ retryAfter: '2', retry: { ...DEFAULT_RETRY, initial_ms: 3000, jitter: 'none' } })).toBe(3000);
    expect(waits({ retryAfter: 'Thu, 01 Jan 1970 00:00:03 GMT' })).toBe(3000);
    expect(waits({ retryAfter: '9999999999' })).toBe(MAX_PARK_MS);
    for (const retryAfter of ['0', '-3', '1.5', 'soon', undefined]) expect(waits({ retryAfter })).toBe(100);
    const hot = { ...DEFAULT_RETRY, initial_ms: 0, max_ms: 0 };
    expect(waits({ retryAfter: '0', retry: hot })).toBeGreaterThan(0);
  });

  test('C62: does not bring back what has no tries left', () => {
    expect(settle(input(retried, { attemptsInRound: 4, retryAfter: '2' }))).toEqual(failed('http_429'));
  });
});
