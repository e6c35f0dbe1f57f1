import { describe, expect, test } from 'vitest';
import type { ConfirmSpec } from '@undolog/shared/domain/compensation';
import { JsonText } from '@undolog/shared/domain/json-text';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { ok, play, type Answers } from '../support/play-try.js';

const GONE = ok('{"state":"cancelled"}');
const STILL_THERE = ok('{"state":"booked"}');

const CONFIRM: ConfirmSpec = {
  url: 'https://vendor.test/bookings/{args.id}',
  done_when: { pointer: '/state', equals: 'cancelled' },
  done_on_status: [],
  budget_ms: 60_000,
  interval_ms: 250,
};

const confirmed = { kind: 'settled', state: 'compensated', proof: 'confirmed' };
const unconfirmed = (code: string) => ({ kind: 'settled', state: 'unconfirmed', code });

describe('a try', () => {
  test('that is done counts as answered, or as confirmed once the record agrees', async () => {
    expect((await play({ call: [ok()] })).tried).toMatchObject({
      attempt: { status: 200, outcome: 'done', error: null },
      settlement: { kind: 'settled', state: 'compensated', proof: 'answered' },
    });
    const looked = await play({ spec: { confirm: CONFIRM }, call: [ok()], record: [GONE] });
    expect(looked.tried).toMatchObject({ attempt: { outcome: 'done' }, settlement: confirmed });
    // Postgres knows of the "done" before anybody asks: a worker that is lost while it asks has not lost that.
    expect(looked.log).toEqual(['POST', 'done', 'GET /bookings/b-1']);
    expect(looked.written).toEqual([{ status: 200, budgetMs: 60_000, location: null }]);
  });

  test('that is done and not yet confirmed waits in Postgres, and is then asked about and never sent', async () => {
    const spec = { confirm: CONFIRM };
    const waits = { kind: 'retry', delayMs: 250, code: 'not_confirmed' };
    const first = await play({ spec, call: [ok()], record: [STILL_THERE] });
    expect(first.tried).toMatchObject({ attempt: { outcome: 'done' }, settlement: waits });
    const confirming = { leftMs: 1000, location: null };
    for (const [record, leftMs, settlement] of [
      [STILL_THERE, 1000, waits],
      [ok('', 500), 1000, waits],
      // What is left then, less what the look has taken.
      [STILL_THERE, 100, { ...waits, delayMs: expect.toSatisfy((ms: number) => ms > 0 && ms <= 100) as number }],
      [STILL_THERE, 0, unconfirmed('not_confirmed')],
      [ok('', 500), -5000, unconfirmed('not_confirmed')],
      [GONE, -5000, confirmed],
    ] as const) {
      const waiting = { attemptOpen: false, confirming: { ...confirming, leftMs } };
      const next = await play({ spec, entry: waiting, record: [record] });
      expect(next.tried?.settlement).toEqual(settlement);
      expect(next.log).toEqual(['GET /bookings/b-1']);
    }
  });

  test('C57: 202 is a promise: unconfirmed where there is no record, followed where the vendor says', async () => {
    const promised = { ...ok('{}', 202), location: '/jobs/7#later' };
    expect((await play({ call: [promised] })).tried?.settlement).toEqual(unconfirmed('not_confirmed'));
    const spec = { confirm: { ...CONFIRM, failed_when: { pointer: '/state', in: ['rejected', 'failed'] } } };
    const kept = await play({ spec, call: [promised], record: [STILL_THERE, GONE] });
    expect(kept.tried?.settlement).toEqual(confirmed);
    expect(kept.log).toEqual(['POST', 'done', 'GET /jobs/7', 'GET /bookings/b-1']);
    expect(kept.written).toMatchObject([{ location: 'https://vendor.test/jobs/7' }]);
    const broken = await play({ spec, call: [promised], record: [ok('{"state":"failed"}')] });
    expect(broken.tried?.settlement).toEqual({ kind: 'settled', state: 'failed', code: 'undo_failed' });
    const doubtful = await play({
      spec,
      entry: { sawUnknown: true },
      call: [promised],
      record: [ok('{"state":"failed"}')],
    });
    expect(doubtful.tried?.settlement).toEqual(unconfirmed('outcome_unknown'));
  });

  test.each([
    'https://evil.test/jobs/7',
    'http://vendor.test/jobs/7',
    'https://vendor.test:8443/x',
    'https://a:b@vendor.test/x',
    'https://[',
  ])('follows no 202 to %s', async (location) => {
    const { log, written } = await play({
      spec: { confirm: CONFIRM },
      call: [{ ...ok('{}', 202), location }],
      record: [GONE],
    });
    expect(written).toMatchObject([{ location: null }]);
    expect(log).toEqual(['POST', 'done', 'GET /bookings/b-1']);
  });

  test('takes no status for "gone" at the place where a 202 is followed', async () => {
    const spec = { confirm: { ...CONFIRM, done_on_status: [404] } };
    const promised = { ...ok('{}', 202), location: '/jobs/7' };
    const { tried } = await play({ spec, call: [promised], record: [ok('', 404), STILL_THERE] });
    expect(tried?.settlement).toMatchObject({ kind: 'retry', code: 'not_confirmed' });
  });

  test('C65, C67: a refusal is settled only after a look at the record', async () => {
    const spec = { confirm: CONFIRM };
    const undone = await play({ spec, call: [ok('{}', 400)], record: [GONE] });
    expect(undone.tried).toMatchObject({ attempt: { status: 400, outcome: 'refused' }, settlement: confirmed });
    const refused = await play({ spec, call: [ok('{}', 400)], record: [STILL_THERE] });
    expect(refused.tried?.settlement).toEqual({ kind: 'settled', state: 'failed', code: 'http_400' });
    const unreadable = await play({ spec, call: [ok('{}', 400)], record: [ok('', 500)] });
    expect(unreadable.tried?.settlement).toMatchObject({ state: 'failed' });
  });

  test('is looked up before it is sent again, and is not sent when the record agrees', async () => {
    const again = await play({ entry: { attempt: 2, attemptOpen: false }, spec: { confirm: CONFIRM }, record: [GONE] });
    expect(again).toMatchObject({ tried: { attempt: null, settlement: confirmed }, log: ['GET /bookings/b-1'] });
    const first = await play({ spec: { confirm: CONFIRM }, call: [ok('', 503)] });
    expect(first.log).toEqual(['POST']);
    expect(first.tried?.settlement).toMatchObject({ kind: 'retry', code: 'http_503' });
  });

  test('does not leave when the claim is lost, and then nothing may be written', async () => {
    expect(await play({ held: false, call: [ok()] })).toMatchObject({ tried: undefined, log: [] });
    const again = await play({ held: false, entry: { attemptOpen: false, attempt: 2 }, call: [ok()] });
    expect(again).toMatchObject({ tried: undefined, log: ['open'] });
  });

  test('is not made without a result, or without a value in the address of the record', async () => {
    const noResult = { needsResult: true, args: new JsonText('{"id":{"$result":"/id"}}') };
    for (const result of [null, new JsonText('{"other":1}')]) {
      expect(await play({ entry: { ...noResult, result } })).toMatchObject({
        tried: { attempt: null, settlement: unconfirmed('missing_result') },
        log: [],
      });
    }
    const spec = { confirm: { ...CONFIRM, url: 'https://vendor.test/bookings/{args.ref}' } };
    expect(await play({ spec })).toMatchObject({
      tried: { attempt: null, settlement: unconfirmed('missing_result') },
      log: [],
    });
  });

  test('C3: is not made when lost workers have used up the budget: one last look, then a person', async () => {
    const stalled = { mayCall: false, attemptOpen: false, sawUnknown: true, attempt: 4 };
    expect(await play({ entry: stalled })).toMatchObject({
      tried: { attempt: null, settlement: unconfirmed('stalled') },
      log: [],
    });
    const seen = await play({ entry: stalled, spec: { confirm: CONFIRM }, record: [GONE] });
    expect(seen).toMatchObject({ tried: { attempt: null, settlement: confirmed }, log: ['GET /bookings/b-1'] });
  });

  test('asks nobody any more about an entry at which every worker was lost', async () => {
    const deadly = { mayAsk: false, attemptOpen: false, confirming: { leftMs: 9000, location: null } };
    expect(await play({ entry: deadly, spec: { confirm: CONFIRM } })).toMatchObject({
      tried: { attempt: null, settlement: unconfirmed('stalled') },
      log: [],
    });
  });
});

describe('a try of a process that goes', () => {
  const handedOver = { kind: 'retry', delayMs: 1, code: 'stalled' };

  /** Answers, and has the process abandon its calls just before. */
  function leavingWith(answer: Exchange): { leaving: AbortController; answers: Answers } {
    const leaving = new AbortController();
    const leave = (): Exchange => {
      leaving.abort();
      return answer;
    };
    return { leaving, answers: [leave] };
  }

  test('is no try when nothing was sent', async () => {
    const { leaving, answers } = leavingWith({ kind: 'not_sent', error: 'abandoned' });
    const last = { attempt: 4, attemptsInRound: 4 };
    const { tried } = await play({ entry: last, call: answers, leaving });
    expect(tried).toEqual({ attempt: null, settlement: handedOver });
  });

  test('is an unknown try, sent again later, when the call was under way', async () => {
    const { leaving, answers } = leavingWith({ kind: 'no_answer', error: 'abandoned' });
    const { tried } = await play({ call: answers, leaving });
    expect(tried).toMatchObject({
      attempt: { status: null, outcome: 'unknown', error: 'abandoned' },
      settlement: { kind: 'retry', code: 'outcome_unknown' },
    });
  });

  test('is not taken for unconfirmed when nobody has asked the record to the end', async () => {
    const { leaving, answers } = leavingWith({ kind: 'no_answer', error: 'abandoned' });
    const { tried, log } = await play({ spec: { confirm: CONFIRM }, call: [ok()], record: answers, leaving });
    expect(tried).toMatchObject({ attempt: { outcome: 'done' }, settlement: handedOver });
    expect(log).toEqual(['POST', 'done', 'GET /bookings/b-1']);
  });

  test('is not settled as refused or lost when the record could not be asked', async () => {
    const spec = { confirm: CONFIRM };
    const unasked: Exchange = { kind: 'not_sent', error: 'abandoned' };
    const refusal = leavingWith(unasked);
    const refused = await play({ spec, call: [ok('{}', 400)], record: refusal.answers, leaving: refusal.leaving });
    expect(refused.tried).toMatchObject({ attempt: { status: 400, outcome: 'refused' }, settlement: handedOver });
    const before = leavingWith(unasked);
    const stalled = { mayCall: false, attempt: 4 };
    const lost = await play({ spec, entry: stalled, record: before.answers, leaving: before.leaving });
    expect(lost.tried).toEqual({ attempt: null, settlement: handedOver });
  });
});
