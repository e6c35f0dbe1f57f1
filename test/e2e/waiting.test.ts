import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

/** Far from a day and from never; how much a machine under load adds is not the question. */
const BOUND_MS = 12_000;

describe.concurrent('how long a retry waits', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    // One slot: whatever waited in it would hold up all the others.
    world = await openWorld({ name: 'waiting', env: { UNDOLOG_CONCURRENCY: '1' } });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const spec = { retry: { max_retries: 1, initial_ms: 200, jitter: 'none' } };

  /** Milliseconds between the first answer and the second call; `retryAfter` is asked when the answer leaves. */
  async function waitAfter(status: number, retryAfter: () => string | undefined, path: string): Promise<number> {
    const headers = (): Record<string, string> => {
      const value = retryAfter();
      return value === undefined ? {} : { 'retry-after': value };
    };
    world.vendor.script(path, { status, headers });
    const session = await org.booked([path], { spec });
    await session.fail();
    await session.reaches('compensated');
    const [first, second] = session.undos();
    return second!.receivedAtMs - first!.closedAtMs!;
  }

  it.each([429, 503])('at least what Retry-After asks, in seconds or as a date, on %i (C62)', async (status) => {
    const inThreeSeconds = (): string => new Date(Date.now() + 3000).toUTCString();
    const [seconds, date] = await Promise.all([
      waitAfter(status, () => '2', `/seconds/${status}`),
      waitAfter(status, inThreeSeconds, `/date/${status}`),
    ]);
    expect(seconds).toBeGreaterThanOrEqual(1990);
    expect(seconds).toBeLessThan(BOUND_MS);
    // An HTTP date has whole seconds, so up to one of the three is cut off.
    expect(date).toBeGreaterThanOrEqual(1900);
    expect(date).toBeLessThan(BOUND_MS);
  });

  it.each([429, 503])('the backoff, never nothing, where it makes no sense, on %i (C62)', async (status) => {
    const senseless = ['0', '-3', '1.5', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT', undefined];
    const waits = await Promise.all(
      senseless.map((value, n) => waitAfter(status, () => value, `/senseless/${status}/${n}`)),
    );
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(190);
      expect(wait).toBeLessThan(BOUND_MS);
    }
  });

  it('is visible and bounded to a day where the vendor asks for more, and holds no slot (C62)', async () => {
    const asked = { '/for-a-day': '86400', '/for-ever': '9999999999', '/for-two-minutes': '120' };
    const parked = await Promise.all(
      Object.entries(asked).map(async ([path, value]) => {
        world.vendor.script(path, { status: 429, headers: { 'retry-after': value } });
        const session = await org.booked(['/under-parked', path], { spec });
        await session.fail();
        return session;
      }),
    );
    for (const session of parked) {
      const shown = await vi.waitFor(
        async () => {
          const view = await session.view();
          expect(view.retry_at).not.toBeNull();
          return view;
        },
        { timeout: 10_000 },
      );
      expect(shown.state).toBe('compensating');
      const hours = (Date.parse(shown.retry_at!) - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(0.03);
      expect(hours).toBeLessThanOrEqual(24);
      expect((await session.stack())[0]!.state).toBe('running');
    }
    const other = await org.booked(['/unhindered']);
    await other.fail();
    await other.reaches('compensated');
    for (const session of parked) expect(await session.calledPositions()).toEqual([2]);
  });

  it('ends by itself on a queue without other traffic (C12)', async () => {
    const wait = await waitAfter(503, () => undefined, '/idle');
    expect(wait).toBeLessThan(BOUND_MS);
  });
});
