import { describe, expect, test } from 'vitest';
import type { Compensation, ConfirmSpec } from '@undolog/shared/domain/compensation';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { ok, play } from '../support/play-try.js';

const CONFIRM: ConfirmSpec = {
  url: 'https://vendor.test/bookings/{args.id}',
  done_when: { pointer: '/state', equals: 'cancelled' },
  done_on_status: [],
  budget_ms: 0,
  interval_ms: 250,
};
const GONE = ok('{"state":"cancelled"}');
const STANDS = ok('{"state":"booked"}');
const UNREADABLE = ok('', 500);

const confirmed = { kind: 'settled', state: 'compensated', proof: 'confirmed' };
const ended = (state: string, code: string) => ({ kind: 'settled', state, code });

const spec: Partial<Compensation> = { key_ttl_seconds: 60, undo_deadline_seconds: 600 };
const asking = { ...spec, confirm: CONFIRM };

describe('an entry whose key the vendor may have forgotten', () => {
  const old: Partial<ClaimedEntry> = { attempt: 2, attemptsInRound: 2, attemptOpen: false, keyAgeMs: 60_001 };

  test('is not sent where nobody can be asked', async () => {
    const { tried, log } = await play({ spec, entry: old });
    expect(tried).toEqual({ attempt: null, settlement: ended('unconfirmed', 'key_expired') });
    expect(log).toEqual([]);
  });

  test('is compensated where the record shows that it took', async () => {
    const { tried, log } = await play({ spec: asking, entry: old, record: [GONE] });
    expect(tried).toEqual({ attempt: null, settlement: confirmed });
    expect(log).toEqual(['GET /bookings/b-1']);
  });

  test('is sent again, under the same key, where the record shows the effect standing', async () => {
    const { tried, log } = await play({ spec: asking, entry: old, record: [STANDS, GONE], call: [ok()] });
    expect(tried?.settlement).toEqual(confirmed);
    expect(log).toEqual(['GET /bookings/b-1', 'open', 'POST', 'done', 'GET /bookings/b-1']);
  });

  test.each([
    ['an error', UNREADABLE],
    ['a record without the value', ok('{}')],
    ['no answer', { kind: 'no_answer', error: 'timeout' } as const],
  ])('takes %s for no permission: the record is asked again, as often as a call is retried', async (_name, record) => {
    const first = await play({ spec: asking, entry: old, record: [record] });
    expect(first.tried?.settlement).toMatchObject({ kind: 'retry', code: 'key_expired', looked: 'failed' });
    const spent = { ...old, lookups: { absentForMs: null, failed: 3 } };
    const last = await play({ spec: asking, entry: spent, record: [record] });
    expect(last.tried?.settlement).toEqual(ended('unconfirmed', 'key_expired'));
    expect([...first.log, ...last.log]).not.toContain('POST');
  });

  test('is sent as ever while the key is young, and where no call can have taken', async () => {
    for (const keyAgeMs of [null, 60_000]) {
      const { log } = await play({ spec, entry: { ...old, keyAgeMs }, call: [ok()] });
      expect(log).toEqual(['open', 'POST']);
    }
  });
});

describe('an entry past the vendor’s window', () => {
  const late: Partial<ClaimedEntry> = { effectAgeMs: 600_001 };

  test('is not called and failed: it is certain that nothing was undone', async () => {
    const { tried, log } = await play({ spec, entry: late });
    expect(tried).toEqual({ attempt: null, settlement: ended('failed', 'undo_deadline_passed') });
    expect(log).toEqual([]);
  });

  test('is unconfirmed where an earlier call may have taken', async () => {
    const entry = { ...late, attempt: 2, attemptOpen: false, keyAgeMs: 5 };
    expect((await play({ spec, entry })).tried?.settlement).toEqual(ended('unconfirmed', 'undo_deadline_passed'));
  });

  test('is compensated where the record shows that it was undone all the same', async () => {
    const shown = await play({ spec: asking, entry: late, record: [GONE] });
    expect(shown.tried).toEqual({ attempt: null, settlement: confirmed });
    const stands = await play({ spec: asking, entry: late, record: [STANDS] });
    expect(stands.tried?.settlement).toEqual(ended('failed', 'undo_deadline_passed'));
    expect(stands.log).toEqual(['GET /bookings/b-1']);
  });

  test('is one from the first moment after it, and never where there is no window', async () => {
    for (const [window, effectAgeMs] of [
      [spec, 600_000],
      [{ key_ttl_seconds: 60 }, 1e12],
    ] as const) {
      expect((await play({ spec: window, entry: { effectAgeMs }, call: [ok()] })).log).toEqual(['POST']);
    }
  });
});

describe('an answer from the vendor’s store', () => {
  const failure = ok('{"error":"boom 17"}', 500);
  /** What a second call comes to after this first answer. */
  async function after(first: typeof failure, again: typeof failure, more: Partial<Compensation> = {}) {
    const { tried } = await play({ spec: more, call: [first] });
    const answerHash = tried?.attempt?.answerHash ?? null;
    const entry = { attempt: 2, attemptsInRound: 2, attemptOpen: false, answerHash, sawUnknown: true };
    return { first: tried, second: await play({ spec: more, entry, call: [again], record: [STANDS] }) };
  }

  test('is a 500 with the body of the one before: no further call, and the attempt says why', async () => {
    const { first, second } = await after(failure, failure);
    expect(first?.settlement).toMatchObject({ kind: 'retry' });
    expect(second.tried).toMatchObject({
      attempt: { status: 500, outcome: 'unknown', error: 'replayed' },
      settlement: ended('unconfirmed', 'http_500'),
    });
  });

  test('is compensated where the record agrees', async () => {
    const marked = { ...ok('{}', 503), replayed: true };
    const { tried, log } = await play({ spec: { confirm: CONFIRM }, call: [marked], record: [GONE] });
    expect(tried).toMatchObject({ attempt: { error: 'replayed' }, settlement: confirmed });
    expect(log).toEqual(['POST', 'GET /bookings/b-1']);
  });

  test.each([500, 502, 503])('is a %i that the vendor marks as one, even the first', async (status) => {
    const { tried } = await play({ call: [{ ...ok('', status), replayed: true }] });
    expect(tried?.settlement).toEqual(ended('unconfirmed', `http_${status}`));
  });

  test.each([
    ['another body', ok('{"error":"boom 18"}', 500), {}],
    ['no body', ok('', 500), {}],
    ['a body that says nothing', ok(' {} ', 500), {}],
    ['a status of the moment', ok('{"error":"boom 17"}', 503), {}],
    ['a 500 that is to be retried', failure, { outcomes: { done: [], retry: [500], permanent: [], body: [] } }],
  ] as const)('is not %s', async (_name, again, more) => {
    const { second } = await after(again.body === '{"error":"boom 18"}' ? failure : again, again, more);
    expect(second.tried).toMatchObject({ attempt: { error: null }, settlement: { kind: 'retry' } });
  });

  test('means nothing where the mark stands on an answer that is no 5xx', async () => {
    expect((await play({ call: [{ ...ok(), replayed: true }] })).tried?.settlement).toMatchObject({
      proof: 'answered',
    });
    const asked = await play({ call: [{ ...ok('{}', 429), replayed: true }] });
    expect(asked.tried?.settlement).toMatchObject({ kind: 'retry' });
  });
});
