import { describe, expect, test } from 'vitest';
import { JsonText } from '@undolog/shared/domain/json-text';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { ok, play } from '../support/play-try.js';

const unconfirmed = (code: string) => ({ kind: 'settled', state: 'unconfirmed', code });

describe('an effect that nobody has reported', () => {
  const unknown = { effectOutcome: 'unknown', attemptOpen: false } as const;
  const lookup = {
    url: 'https://vendor.test/find/{effect.idempotency_key}',
    result_pointer: '/0',
    absent_on_status: [404],
    settle_ms: 5000,
  };
  const unbound = { ...unknown, needsResult: true, args: new JsonText('{"id":{"$result":"/id"}}') };
  const FIND = 'GET /find/effect-e-1';
  const waits = (looked: 'absent' | 'failed', delayMs: unknown) => ({
    attempt: null,
    settlement: { kind: 'retry', delayMs, code: looked === 'failed' ? 'lookup_failed' : null, looked },
  });

  test('C79: is looked up before any call, and undone with what was found, which is kept first', async () => {
    const found = await play({ entry: unbound, spec: { lookup }, record: [ok('[{"id":"b-9"}]')], call: [ok()] });
    expect(found.log).toEqual([FIND, 'open with {"id":"b-9"}', 'POST']);
    expect(found.tried?.settlement).toMatchObject({ state: 'compensated' });
    const again = { ...unbound, attempt: 2, found: true, result: new JsonText('{"id":"b-9"}') };
    expect((await play({ entry: again, spec: { lookup }, call: [ok()] })).log).toEqual(['open', 'POST']);
  });

  test('C80: is absent only when it was so twice, the time to settle between', async () => {
    for (const none of [ok('', 404), ok('[]')]) {
      const first = await play({ entry: unknown, spec: { lookup }, record: [none] });
      expect(first).toMatchObject({ tried: waits('absent', 5000), log: [FIND] });
      const early = { ...unknown, lookups: { absentForMs: 2000, failed: 0 } };
      expect((await play({ entry: early, spec: { lookup }, record: [none] })).tried).toEqual(waits('absent', 3000));
      const due = { ...unknown, lookups: { absentForMs: 5000, failed: 0 } };
      expect((await play({ entry: due, spec: { lookup }, record: [none] })).tried).toEqual({
        attempt: null,
        settlement: { kind: 'settled', state: 'skipped', reason: 'effect_absent' },
      });
    }
  });

  test('C80: "could not look" is never "not there": retried within the budget, then unconfirmed', async () => {
    const lost: Exchange[] = [
      ok('', 500),
      ok('', 403),
      ok('', 302),
      ok('<html>'),
      ok(''),
      { kind: 'no_answer', error: 'timeout' },
      { kind: 'not_sent', error: 'ECONNREFUSED' },
      { kind: 'blocked', error: 'url_not_allowed' },
    ];
    const redirects = { ...lookup, absent_on_status: [302, 404] };
    for (const answer of lost) {
      const absent = { ...unknown, lookups: { absentForMs: 9000, failed: 2 } };
      const { tried, log } = await play({ entry: absent, spec: { lookup: redirects }, record: [answer] });
      expect(tried).toEqual(waits('failed', expect.any(Number)));
      expect(log).toEqual([FIND]);
      const spent = { ...unknown, lookups: { absentForMs: 9000, failed: 3 } };
      const ended = await play({ entry: spent, spec: { lookup: redirects }, record: [answer] });
      expect(ended.tried).toEqual({ attempt: null, settlement: unconfirmed('lookup_failed') });
    }
    const slower = { ...ok('', 503), retryAfter: '7' };
    expect((await play({ entry: unknown, spec: { lookup }, record: [slower] })).tried).toEqual(waits('failed', 7000));
  });

  test('is asked for nowhere when the address lacks a value, and not at all once it was committed', async () => {
    const spec = { lookup: { ...lookup, url: 'https://vendor.test/find/{args.ref}' } };
    expect(await play({ entry: unknown, spec })).toMatchObject({
      tried: { attempt: null, settlement: unconfirmed('missing_result') },
      log: [],
    });
    expect((await play({ spec, call: [ok()] })).log).toEqual(['POST']);
  });

  test('is not undone without the value that a lookup should have brought', async () => {
    expect(await play({ entry: unbound, spec: { lookup }, record: [ok('[{}]')] })).toMatchObject({
      tried: { attempt: null, settlement: unconfirmed('missing_result') },
      log: [FIND],
    });
  });
});
