import type { BackendServer } from '@undolog/backends/backend-server';
import { startRedis } from '@undolog/backends/start-redis';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { describeRedis } from '../support/describe-redis.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { openWorld, type World } from '../support/world.js';

const RESUME_LIMIT_MS = 15_000;

describeRedis('a wake-up call that is lost on its way to Redis', () => {
  let redis: BackendServer;
  let apiHop: FaultProxy;
  let compensatorHop: FaultProxy;
  let world: World;
  let org: Org;
  beforeAll(async () => {
    redis = (await startRedis())!;
    [apiHop, compensatorHop] = [new FaultProxy(redis.url), new FaultProxy(redis.url)];
    await Promise.all([apiHop.listen(), compensatorHop.listen()]);
    world = await openWorld({
      name: 'lost_wake_up',
      redisUrl: redis.url,
      apiEnv: () => Promise.resolve({ REDIS_URL: apiHop.url }),
      compensatorEnv: { REDIS_URL: compensatorHop.url },
    });
    org = await world.newOrg();
  });
  afterAll(async () => {
    await world.close();
    await Promise.all([apiHop.close(), compensatorHop.close()]);
    await redis.remove();
  });

  it('because the api died between the commit and the enqueue: the sweep finds the session (C59)', async () => {
    const session = await org.booked(['/never-enqueued', '/never-enqueued']);
    // What the api sends to Redis now vanishes, so its job can't have been added when it is killed.
    apiHop.fault = 'black_hole';
    await session.fail();
    await world.api.kill();
    const killedAt = performance.now();
    apiHop.fault = 'pass';
    await expect.poll(() => session.undos().length, { timeout: RESUME_LIMIT_MS }).toBe(2);
    expect(performance.now() - killedAt).toBeLessThan(RESUME_LIMIT_MS);
    await world.api.start();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(await session.faults()).toEqual([]);
    expect(await world.compensator.metric('undolog_sweep_rescues_total', 'kind="wake_up"')).toBeGreaterThan(0);
  });

  it('or whose answer is lost: the session is unwound once (C61)', async () => {
    const sessions = await Promise.all(
      Array.from({ length: 20 }, () => org.booked(['/maybe-enqueued', '/maybe-enqueued'])),
    );
    apiHop.fault = 'lose_answers';
    await Promise.all(sessions.map((session) => session.fail()));
    await sleep(200);
    await world.api.kill();
    apiHop.fault = 'pass';
    await world.api.start();
    for (const session of sessions) await session.reaches('compensated', RESUME_LIMIT_MS);
    for (const session of sessions) {
      expect(await session.calledPositions()).toEqual([2, 1]);
      expect(await session.faults()).toEqual([]);
    }
  });

  it('in a cut of the compensator’s connection during a backoff: the retry comes all the same (C12)', async () => {
    world.vendor.script('/cut', { status: 503 });
    const spec = { retry: { max_retries: 3, initial_ms: 1000, jitter: 'none' } };
    const session = await org.booked(['/cut'], { spec });
    await session.fail();
    await expect.poll(() => world.vendor.ledger.at('/cut').length, { timeout: 10_000 }).toBe(1);
    compensatorHop.fault = 'cut';
    await sleep(3000);
    compensatorHop.fault = 'pass';
    await session.reaches('compensated', RESUME_LIMIT_MS);
    expect(await session.calledPositions()).toEqual([1, 1]);
    expect(await session.faults()).toEqual([]);
  });

  it('in a silence of the compensator’s connection: it is noticed, and work goes on after it', async () => {
    const session = await org.booked(['/silent', '/silent', '/silent']);
    compensatorHop.fault = 'black_hole';
    await session.fail();
    await expect.poll(() => world.compensator.readiness().then(({ status }) => status), { timeout: 5000 }).toBe(503);
    compensatorHop.fault = 'pass';
    await session.reaches('compensated', RESUME_LIMIT_MS);
    expect(await session.calledPositions()).toEqual([3, 2, 1]);
    expect((await world.compensator.readiness()).status).toBe(200);
  });
});
