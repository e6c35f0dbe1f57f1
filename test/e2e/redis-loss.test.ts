import type { BackendServer } from '@undolog/backends/backend-server';
import { startRedis } from '@undolog/backends/start-redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { describeRedis } from '../support/describe-redis.js';
import { redisOnce } from '../support/look-at-backends.js';
import { queuedDeadLetters } from '../support/queue-look.js';
import { openWorld, type World } from '../support/world.js';

/** Redis wiped or back → resumed. */
const RESUME_LIMIT_MS = 15_000;

describeRedis('Redis lost', () => {
  let redis: BackendServer;
  let world: World;
  let org: Org;
  beforeAll(async () => {
    redis = (await startRedis())!;
    world = await openWorld({ name: 'redis_loss', compensators: 2, redisUrl: redis.url });
    org = await world.newOrg();
  });
  afterAll(async () => {
    await world.close();
    await redis.remove();
  });

  const flushAll = (): Promise<unknown> => redisOnce(redis.url, (client) => client.flushall());
  const called = (path: string): number => world.vendor.ledger.at(path).length;

  it('by FLUSHALL mid-unwind and mid-backoff: both go on where they were, nothing under a new key (C19)', async () => {
    // One is between entries 3 and 2, one waits for its retry, one has halted.
    world.vendor.script('/flushed/3', { delayMs: 1000 });
    world.vendor.script('/waiting/2', { status: 503 });
    world.vendor.always('/halted/2', { status: 400 });
    const between = await org.booked(['/flushed/1', '/flushed/2', '/flushed/3', '/flushed/4']);
    const slowly = { spec: { retry: { max_retries: 3, initial_ms: 2000, jitter: 'none' } } };
    const waiting = await org.booked(['/waiting/1', '/waiting/2', '/waiting/3'], slowly);
    const halted = await org.booked(['/halted/1', '/halted/2']);
    await Promise.all([between.fail(), waiting.fail(), halted.fail()]);
    await halted.reaches('halted');
    await expect.poll(() => [called('/flushed/3'), called('/waiting/2')], { timeout: 10_000 }).toEqual([1, 1]);
    await flushAll();
    const flushedAt = performance.now();

    await Promise.all([between.reaches('compensated'), waiting.reaches('compensated')]);
    expect(performance.now() - flushedAt).toBeLessThan(RESUME_LIMIT_MS);
    expect(await between.calledPositions()).toEqual([4, 3, 2, 1]);
    expect(await waiting.calledPositions()).toEqual([3, 2, 2, 1]);
    for (const session of [between, waiting]) {
      expect(await session.faults()).toEqual([]);
      expect(session.standing()).toEqual([]);
    }
    // The letter of the halted one is announced again, once.
    await expect.poll(() => queuedDeadLetters(world, halted.id), { timeout: RESUME_LIMIT_MS }).toHaveLength(1);
    expect(await org.deadLetters(halted.id)).toHaveLength(1);
    expect(halted.undos()).toHaveLength(1);
  });

  it('does not keep calls from being registered or sessions from failing; the undo follows (C18)', async () => {
    await org.compensation('/redis-down');
    await redis.stop('SIGKILL');
    const startedMs = performance.now();
    const session = await org.open();
    await session.book('/redis-down');
    await session.book('/redis-down');
    await session.fail();
    expect(performance.now() - startedMs).toBeLessThan(5000);
    expect(await world.api.readiness()).toMatchObject({ status: 200, body: { status: 'degraded' } });
    expect((await world.compensator.readiness()).status).toBe(503);
    expect(session.undos()).toEqual([]);

    await redis.start();
    const backAt = performance.now();
    await session.reaches('compensated');
    expect(performance.now() - backAt).toBeLessThan(RESUME_LIMIT_MS);
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(session.standing()).toEqual([]);
  });

  it('by a restart under 20 unwinds: all end without a new worker, and readiness says when (C17)', async () => {
    world.vendor.always('/restarted', { delayMs: 100 });
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => org.booked(['/restarted', '/restarted', '/restarted'])),
    );
    await Promise.all(sessions.map((session) => session.fail()));
    await expect.poll(() => called('/restarted'), { timeout: 10_000 }).toBeGreaterThan(10);
    await redis.stop();
    for (const one of world.compensators) expect((await one.readiness()).status).toBe(503);
    await redis.start();
    for (const session of sessions) await session.reaches('compensated', RESUME_LIMIT_MS);
    for (const session of sessions) {
      expect(await session.faults()).toEqual([]);
      expect(new Set(await session.calledPositions())).toEqual(new Set([3, 2, 1]));
    }
    for (const one of world.compensators) expect((await one.readiness()).status).toBe(200);
  });

  it('for want of memory: the failure is kept, and undone once there is room (C21)', async () => {
    const session = await org.booked(['/no-memory', '/no-memory']);
    await redisOnce(redis.url, (client) => client.config('SET', 'maxmemory', '1'));
    await session.fail();
    const other = await org.open();
    await session.org.compensation('/no-memory');
    await other.book('/no-memory');
    await redisOnce(redis.url, (client) => client.config('SET', 'maxmemory', '0'));
    await session.reaches('compensated', RESUME_LIMIT_MS);
    expect(await session.calledPositions()).toEqual([2, 1]);
  });

  it('is feared of a Redis that evicts: the compensator is not ready, the api is degraded (C20)', async () => {
    const policy = (name: string): Promise<unknown> =>
      redisOnce(redis.url, (client) => client.config('SET', 'maxmemory-policy', name));
    await policy('allkeys-lru');
    expect(await world.compensator.readiness()).toMatchObject({ status: 503, body: { code: 'redis_evicting_policy' } });
    expect(await world.api.readiness()).toMatchObject({ status: 200, body: { status: 'degraded' } });
    await policy('noeviction');
    expect((await world.compensator.readiness()).status).toBe(200);
    // A managed Redis refuses CONFIG; that alone is no fault.
    await redisOnce(redis.url, (client) => client.call('ACL', 'SETUSER', 'default', '-config'));
    expect((await world.compensator.readiness()).status).toBe(200);
    await redisOnce(redis.url, (client) => client.call('ACL', 'SETUSER', 'default', '+config'));
  });

  it('never costs more than a constant number of connections, however many sessions fail (C27)', async () => {
    const connections = (): Promise<number> =>
      redisOnce(redis.url, async (client) => ((await client.client('LIST')) as string).trim().split('\n').length);
    const before = await connections();
    await org.compensation('/connections');
    const sessions = await Promise.all(Array.from({ length: 150 }, () => org.open()));
    const answers = await Promise.all(
      sessions.flatMap(({ path }) => [1, 2].map(() => org.post(`${path}/fail`, { reason: 'many' }))),
    );
    expect(new Set(answers.map((answer) => bodyOf(answer)['state']))).toEqual(new Set(['compensated']));
    expect(await connections()).toBeLessThanOrEqual(before + 1);
  });
});
