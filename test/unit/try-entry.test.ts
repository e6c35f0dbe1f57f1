import { describe, expect, test } from 'vitest';
import type { VendorClient } from '@undolog/compensator/compensation-call';
import { tryEntry } from '@undolog/compensator/try-entry';
import type { Compensation, ConfirmSpec } from '@undolog/shared/domain/compensation';
import { JsonText } from '@undolog/shared/domain/json-text';
import type { Exchange } from '@undolog/shared/domain/verdict';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { compensation } from '../support/undo-call.js';

const ok = (body = '{}', status = 200): Exchange => ({ kind: 'answer', status, body, retryAfter: undefined });
const GONE = ok('{"state":"cancelled"}');
const STILL_THERE = ok('{"state":"booked"}');

const CONFIRM: ConfirmSpec = {
  url: 'https://vendor.test/bookings/{args.id}',
  done_when: { pointer: '/state', equals: 'cancelled' },
  done_on_status: [],
  budget_ms: 50,
  interval_ms: 10,
};

function entry(some: Partial<ClaimedEntry> = {}): ClaimedEntry {
  return {
    undoId: 'u-1',
    sessionId: 's-1',
    effectId: 'e-1',
    fence: 1,
    fnName: 'cancel',
    version: '1',
    args: new JsonText('{"id":"b-1"}'),
    needsResult: false,
    result: null,
    effectOutcome: 'committed',
    traceparent: null,
    attempt: 1,
    attemptsInRound: 1,
    maxRetries: 3,
    sawUnknown: false,
    mayCall: true,
    ...some,
  };
}

type Answers = (Exchange | (() => Exchange))[];

/** Plays one try against a vendor that gives these answers to the undo, and these to looks at its record. */
async function play(o: {
  entry?: Partial<ClaimedEntry>;
  spec?: Partial<Compensation>;
  call?: Answers;
  record?: Answers;
  held?: boolean;
  leaving?: AbortController;
}) {
  const log: string[] = [];
  const next = (answers: Answers | undefined): Exchange => {
    const answer = (answers!.length > 1 ? answers!.shift() : answers![0])!;
    return typeof answer === 'function' ? answer() : answer;
  };
  const client: Pick<VendorClient, 'call' | 'ask'> = {
    async call() {
      log.push('POST');
      return next(o.call);
    },
    async ask(url) {
      log.push(`GET ${new URL(url).pathname}`);
      return next(o.record);
    },
  };
  const tried = await tryEntry(entry(o.entry), compensation({ url: 'https://vendor.test/undo', ...o.spec }), {
    client: client as VendorClient,
    stillHeld: async () => o.held ?? true,
    signal: (o.leaving ?? new AbortController()).signal,
  });
  return { tried, log };
}

const confirmed = { kind: 'settled', state: 'compensated', proof: 'confirmed' };
const unconfirmed = (code: string) => ({ kind: 'settled', state: 'unconfirmed', code });

describe('a try', () => {
  test('that is done counts as answered, or as confirmed once the record agrees', async () => {
    expect((await play({ call: [ok()] })).tried).toMatchObject({
      attempt: { status: 200, outcome: 'done', error: null },
      settlement: { kind: 'settled', state: 'compensated', proof: 'answered' },
    });
    const looked = await play({ spec: { confirm: CONFIRM }, call: [ok()], record: [STILL_THERE, GONE] });
    expect(looked.tried).toMatchObject({ attempt: { outcome: 'done' }, settlement: confirmed });
    expect(looked.log).toEqual(['POST', 'GET /bookings/b-1', 'GET /bookings/b-1']);
  });

  test('C57: 202 is a promise: polled where there is a record, and unconfirmed where there is none', async () => {
    const promised = [ok('{}', 202)];
    expect((await play({ call: promised })).tried?.settlement).toEqual(unconfirmed('not_confirmed'));
    const kept = await play({ call: promised, spec: { confirm: CONFIRM }, record: [STILL_THERE, GONE] });
    expect(kept.tried?.settlement).toEqual(confirmed);
    const broken = await play({ call: promised, spec: { confirm: CONFIRM }, record: [STILL_THERE] });
    expect(broken.tried?.settlement).toEqual(unconfirmed('not_confirmed'));
    expect(broken.log.filter((line) => line === 'POST')).toHaveLength(1);
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
    const again = await play({ entry: { attempt: 2 }, spec: { confirm: CONFIRM }, record: [GONE] });
    expect(again).toEqual({ tried: { attempt: null, settlement: confirmed }, log: ['GET /bookings/b-1'] });
    const first = await play({ spec: { confirm: CONFIRM }, call: [ok('', 503)] });
    expect(first.log).toEqual(['POST']);
    expect(first.tried?.settlement).toMatchObject({ kind: 'retry', code: 'http_503' });
  });

  test('does not leave when the claim is lost, and then nothing may be written', async () => {
    expect(await play({ held: false, call: [ok()] })).toEqual({ tried: undefined, log: [] });
  });

  test('is not made without a result, or without a value in the address of the record', async () => {
    const noResult = { needsResult: true, args: new JsonText('{"id":{"$result":"/id"}}') };
    for (const result of [null, new JsonText('{"other":1}')]) {
      expect(await play({ entry: { ...noResult, result } })).toEqual({
        tried: { attempt: null, settlement: unconfirmed('missing_result') },
        log: [],
      });
    }
    const spec = { confirm: { ...CONFIRM, url: 'https://vendor.test/bookings/{args.ref}' } };
    expect(await play({ spec })).toEqual({
      tried: { attempt: null, settlement: unconfirmed('missing_result') },
      log: [],
    });
  });

  test('C3: is not made when lost workers have used up the budget: one last look, then a person', async () => {
    const stalled = { mayCall: false, sawUnknown: true, attempt: 4 };
    expect(await play({ entry: stalled })).toEqual({
      tried: { attempt: null, settlement: unconfirmed('stalled') },
      log: [],
    });
    const seen = await play({ entry: stalled, spec: { confirm: CONFIRM }, record: [GONE] });
    expect(seen).toEqual({ tried: { attempt: null, settlement: confirmed }, log: ['GET /bookings/b-1'] });
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
    const { leaving, answers } = leavingWith(STILL_THERE);
    const spec = { confirm: { ...CONFIRM, budget_ms: 60_000, interval_ms: 60_000 } };
    const { tried } = await play({ spec, call: [ok()], record: answers, leaving });
    expect(tried).toMatchObject({ attempt: { status: 200, outcome: 'unknown', error: 'abandoned' } });
    expect(tried?.settlement).toEqual(handedOver);
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
