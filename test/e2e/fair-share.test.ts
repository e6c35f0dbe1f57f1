import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queuedWakeUps } from '../support/queue-look.js';
import { openWorld, type World } from '../support/world.js';

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
