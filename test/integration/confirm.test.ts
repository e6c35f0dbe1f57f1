import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVendorClient, type VendorClient } from '@undolog/shared/vendor/compensation-call';
import { confirmDone } from '@undolog/compensator/confirm';
import { askOnce, confirmUrl } from '@undolog/shared/vendor/ask-record';
import type { ConfirmSpec } from '@undolog/shared/domain/compensation';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { OddVendor, type Treatment } from '../support/odd-vendor.js';
import { compensation, undoCall } from '../support/undo-call.js';

const RECORD = '/bookings/b-1';

let vendor: OddVendor;
let client: VendorClient;
const asker = (signal = new AbortController().signal) => ({ client, signal });

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
  test.each<[string, number, string, 'agreed' | 'not_done' | 'not_agreed']>([
    ['the value that was agreed on', 200, '{"state":"cancelled"}', 'agreed'],
    ['another value', 200, '{"state":"booked"}', 'not_done'],
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
    expect(await askOnce(call(), asker())).toBe(agreement);
    expect(vendor.ledger.map(({ method, path }) => [method, path])).toEqual([['GET', RECORD]]);
  });

  test('takes no redirect for an answer, not even one that is listed', async () => {
    record([302, '']);
    expect(await askOnce(call({ done_on_status: [302] }), asker())).toBe('not_agreed');
    expect(vendor.ledger).toHaveLength(1);
  });

  test('C80: that could not be taken is no agreement', async () => {
    const bad: Treatment[] = [(_request, _response, socket) => socket.resetAndDestroy(), () => {}];
    for (const treatment of bad) {
      vendor.on(RECORD, treatment);
      expect(await askOnce(call({}, 200), asker())).toBe('not_agreed');
    }
  });

  test('asks nobody when the address has no value, or the compensation no record', async () => {
    const unknown = call({ url: vendor.url('/bookings/{args.nothing}') });
    expect(confirmUrl(unknown)).toBeUndefined();
    expect(await askOnce(unknown, asker())).toBe('not_agreed');
    const none = undoCall(compensation({ url: vendor.url('/undo') }));
    expect(await askOnce(none, asker())).toBe('not_agreed');
    expect(vendor.connections).toBe(0);
  });
});

describe('asking about an undo that the vendor called done', () => {
  const confirming = (leftMs: number) => ({ leftMs, location: null });

  test('C80: goes on over errors and an old state', async () => {
    record([500, ''], [503, ''], BOOKED, CANCELLED);
    for (let n = 0; n < 3; n++) {
      expect(await confirmDone(call(), confirming(500), false, asker())).toMatchObject({ kind: 'retry', delayMs: 50 });
    }
    expect(await confirmDone(call(), confirming(500), false, asker())).toMatchObject({ proof: 'confirmed' });
  });

  test('waits for the answer even when no budget is left', async () => {
    vendor.on(RECORD, (_request, response) => void setTimeout(() => response.end(CANCELLED[1]), 100));
    expect(await confirmDone(call(), confirming(0), false, asker())).toMatchObject({ proof: 'confirmed' });
    expect(vendor.ledger).toHaveLength(1);
  });

  test('waits for a record that hangs no longer than its budget and a second', async () => {
    vendor.on(RECORD, () => {});
    const startedMs = performance.now();
    const ended = await confirmDone(call(), confirming(100), false, asker());
    expect(ended).toMatchObject({ state: 'unconfirmed', code: 'not_confirmed' });
    expect(performance.now() - startedMs).toBeLessThan(2500);
  });

  test('is abandoned at once when the process goes, and that is no disagreement', async () => {
    vendor.on(RECORD, () => {});
    const leaving = new AbortController();
    const asking = confirmDone(call(), confirming(60_000), false, asker(leaving.signal));
    await vendor.nextRequest();
    leaving.abort();
    expect(await asking).toEqual({ kind: 'retry', delayMs: 1, code: 'stalled' });
    expect(vendor.ledger).toHaveLength(1);
  });
});
