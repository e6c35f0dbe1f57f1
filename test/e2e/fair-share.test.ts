import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queuedWakeUps } from '../support/queue-look.js';
import { VendorSimulator } from '../support/vendor-simulator.js';
import { openWorld, type World } from '../support/world.js';
import type { Org } from '../support/api-client.js';

describe('one org’s vendor that hangs', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ name: 'fair_share', env: { UNDOLOG_CONCURRENCY: '4' } });
  });
  afterAll(() => world.close());

  it('at more sessions than there are slots does not keep another org’s undo waiting', async () => {
    const [slow, quick] = [await world.newOrg('slow'), await world.newOrg('quick')];
    world.vendor.always('/hanging', { ends: 'hang', applies: false });
    const hanging = await Promise.all(
      Array.from({ length: 20 }, () => slow.booked(['/hanging'], { spec: { timeout_ms: 30_000 } })),
    );
    await Promise.all(hanging.map((session) => session.fail()));
    const calls = (): number => world.vendor.ledger.at('/hanging').length;
    await expect.poll(calls, { timeout: 10_000 }).toBe(4);
    const session = await quick.booked(['/quick', '/quick']);
    const failedAt = performance.now();
    await session.fail();
    await session.reaches('compensated');
    expect(performance.now() - failedAt).toBeLessThan(15_000);
    // The slow one had its share, no more and no less, and its other jobs carry nothing but ids.
    expect(calls()).toBe(4);
    const queued = await queuedWakeUps(world);
    expect(queued.length).toBeGreaterThanOrEqual(16);
    for (const data of queued) expect(Object.keys(data).toSorted()).toEqual(['org_id', 'session_id', 'undo_id']);
  });

  it('ends, and every session that waited behind it is undone once', async () => {
    const org = await world.newOrg();
    world.vendor.always('/slow-start', { delayMs: 600 });
    const sessions = await Promise.all(Array.from({ length: 16 }, () => org.booked(['/slow-start'])));
    await Promise.all(sessions.map((session) => session.fail()));
    for (const session of sessions) await session.reaches('compensated');
    expect(world.vendor.ledger.at('/slow-start')).toHaveLength(16);
  });
});

describe('C102: an org whose vendor hangs in two hundred sessions', () => {
  let world: World;
  const other = new VendorSimulator();
  beforeAll(async () => {
    world = await openWorld({ name: 'fair_share_crowd', compensators: 2, env: { UNDOLOG_CONCURRENCY: '20' } });
    await other.listen();
  });
  afterAll(async () => {
    await other.close();
    await world.close();
  });

  /** How long five sessions, three undos each, take from their failure to their end. */
  async function fiveSessionsTake(org: Org, path: string): Promise<number> {
    world.vendor.always(path, { delayMs: 200 });
    const sessions = await Promise.all(Array.from({ length: 5 }, () => org.booked([path, path, path])));
    const startedAt = performance.now();
    await Promise.all(sessions.map((session) => session.fail()));
    await Promise.all(sessions.map((session) => session.reaches('compensated')));
    return performance.now() - startedAt;
  }

  it('slows down neither another org nor its own other vendor to more than twice their time alone', async () => {
    const [crowd, quick] = [await world.newOrg('crowd'), await world.newOrg('quick')];
    await fiveSessionsTake(quick, '/first-ever');
    const alone = await fiveSessionsTake(quick, '/alone');
    other.always('/hanging', { ends: 'hang', applies: false });
    const spec = { url: `${other.url}/hanging`, timeout_ms: 60_000 };
    const hanging = await Promise.all(Array.from({ length: 200 }, () => crowd.booked(['/hanging'], { spec })));
    await Promise.all(hanging.map((session) => session.fail()));
    await expect.poll(() => other.ledger.at('/hanging').length, { timeout: 10_000 }).toBe(40);
    await sleep(2000);
    // No call holds a connection, let alone a transaction: all that are open have just been begun (C89).
    const [open] = await world.rows<{ oldest: number }>(
      `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 AS oldest
      FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(open!.oldest).toBeLessThan(2);
    // Other work of the machine may slow down any one measurement; the crowd would slow down all of them.
    await expect.poll(() => fiveSessionsTake(quick, '/beside'), { timeout: 25_000 }).toBeLessThan(2 * alone);
    // The first ones show that the crowd has another vendor; from then on that one has its own pace.
    await fiveSessionsTake(crowd, '/own-first');
    await expect.poll(() => fiveSessionsTake(crowd, '/own'), { timeout: 25_000 }).toBeLessThan(2 * alone);
  });
});
