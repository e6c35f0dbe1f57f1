import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVendorClient, type VendorClient } from '@undolog/compensator/compensation-call';
import { askOnce, confirmUrl, pollUntilAgreed } from '@undolog/compensator/confirm';
import type { ConfirmSpec } from '@undolog/shared/domain/compensation';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { OddVendor, type Treatment } from '../support/odd-vendor.js';
import { compensation, undoCall } from '../support/undo-call.js';

const RECORD = '/bookings/b-1';

let vendor: OddVendor;
let client: VendorClient;
const forEver = new AbortController().signal;

beforeEach(async () => {
  vendor = new OddVendor();
  await vendor.listen();
  client = createVendorClient({ egress: parseEgressPolicy('127.0.0.0/8'), connectionsPerOrigin: 10 });
});

afterEach(async () => {
  await client.close();
  await vendor.close();
});

function call(confirm: Partial<ConfirmSpec> = {}, timeoutMs = 5000) {
  const url = vendor.url('/undo');
  return undoCall(
    compensation({
      url,
      timeout_ms: timeoutMs,
      confirm: {
        url: vendor.url('/bookings/{args.booking_id}'),
        done_when: { pointer: '/state', equals: 'cancelled' },
        done_on_status: [404],
        budget_ms: 500,
        interval_ms: 50,
        ...confirm,
      },
    }),
  );
}

/** Answers its requests with these in turn, and with the last one from then on. */
function record(...answers: (readonly [status: number, body: string])[]): void {
  let next = 0;
  vendor.on(RECORD, (_request, response) => {
    const [status, body] = answers[Math.min(next++, answers.length - 1)]!;
    response.writeHead(status, { location: '/elsewhere' }).end(body);
  });
}

const BOOKED = [200, '{"state":"booked"}'] as const;
const CANCELLED = [200, '{"state":"cancelled"}'] as const;

describe('one look at the record', () => {
  test.each<[string, number, string, 'agreed' | 'not_agreed']>([
    ['the value that was agreed on', 200, '{"state":"cancelled"}', 'agreed'],
    ['another value', 200, '{"state":"booked"}', 'not_agreed'],
    ['no value', 200, '{}', 'not_agreed'],
    ['no JSON', 200, 'cancelled', 'not_agreed'],
    ['a status that was agreed on', 404, '', 'agreed'],
    ['another status', 410, '', 'not_agreed'],
    ['the value under an error', 500, '{"state":"cancelled"}', 'not_agreed'],
    ['the value under a refusal', 401, '{"state":"cancelled"}', 'not_agreed'],
    ['the value under a redirect', 302, '{"state":"cancelled"}', 'not_agreed'],
    ['the value in a body that is too long', 200, `{"state":"cancelled","x":"${'x'.repeat(70_000)}"}`, 'not_agreed'],
  ])('takes %s (%d) for what it is', async (_name, status, body, agreement) => {
    record([status, body]);
    expect(await askOnce(client, call(), forEver)).toBe(agreement);
    expect(vendor.ledger.map(({ method, path }) => [method, path])).toEqual([['GET', RECORD]]);
  });

  test('takes no redirect for an answer, not even one that is listed', async () => {
    record([302, '']);
    expect(await askOnce(client, call({ done_on_status: [302] }), forEver)).toBe('not_agreed');
    expect(vendor.ledger).toHaveLength(1);
  });

  test('C80: that could not be taken is no agreement', async () => {
    const bad: Treatment[] = [(_request, _response, socket) => socket.resetAndDestroy(), () => {}];
    for (const treatment of bad) {
      vendor.on(RECORD, treatment);
      expect(await askOnce(client, call({}, 200), forEver)).toBe('not_agreed');
    }
  });

  test('asks nobody when the address has no value, or the compensation no record', async () => {
    const unknown = call({ url: vendor.url('/bookings/{args.nothing}') });
    expect(confirmUrl(unknown)).toBeUndefined();
    expect(await askOnce(client, unknown, forEver)).toBe('not_agreed');
    const none = undoCall(compensation({ url: vendor.url('/undo') }));
    expect(await askOnce(client, none, forEver)).toBe('not_agreed');
    expect(vendor.connections).toBe(0);
  });
});

describe('polling the record', () => {
  test('C80: goes on over errors and an old state until it agrees, and then stops', async () => {
    record(BOOKED, [500, ''], [503, ''], BOOKED, CANCELLED, BOOKED);
    expect(await pollUntilAgreed(client, call(), forEver)).toBe('agreed');
    expect(vendor.seenAt(RECORD)).toHaveLength(5);
  });

  test('ends with its budget, after a last look at the very end, and keeps its interval', async () => {
    record(BOOKED);
    const startedMs = performance.now();
    expect(await pollUntilAgreed(client, call({ budget_ms: 300, interval_ms: 100 }), forEver)).toBe('not_agreed');
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(299);
    expect(tookMs).toBeLessThan(1200);
    expect(vendor.ledger.length).toBeGreaterThanOrEqual(2);
    expect(vendor.ledger.length).toBeLessThanOrEqual(4);
    expect(vendor.ledger.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('looks a second time at the end of a budget that is shorter than its interval', async () => {
    record(BOOKED, CANCELLED);
    expect(await pollUntilAgreed(client, call({ budget_ms: 100, interval_ms: 60_000 }), forEver)).toBe('agreed');
    expect(vendor.ledger).toHaveLength(2);
  });

  test('looks once, and waits for the answer, when there is no budget', async () => {
    vendor.on(RECORD, (_request, response) => void setTimeout(() => response.end(CANCELLED[1]), 100));
    expect(await pollUntilAgreed(client, call({ budget_ms: 0 }), forEver)).toBe('agreed');
    expect(vendor.ledger).toHaveLength(1);
  });

  test('waits for a record that hangs no longer than its budget and a second', async () => {
    vendor.on(RECORD, () => {});
    const startedMs = performance.now();
    expect(await pollUntilAgreed(client, call({ budget_ms: 100 }), forEver)).toBe('not_agreed');
    expect(performance.now() - startedMs).toBeLessThan(2500);
  });

  test('is abandoned at once when the process goes, and that is no disagreement', async () => {
    record(BOOKED);
    const leaving = new AbortController();
    const polling = pollUntilAgreed(client, call({ budget_ms: 60_000, interval_ms: 60_000 }), leaving.signal);
    await vendor.nextRequest();
    setTimeout(() => leaving.abort(), 100);
    const startedMs = performance.now();
    expect(await polling).toBe('abandoned');
    expect(performance.now() - startedMs).toBeLessThan(2000);
    expect(vendor.ledger).toHaveLength(1);
  });
});
