import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { openCompensationQueue } from '@undolog/shared/queue/compensation-queue';
import { describeRedis, testRedisUrl } from '../support/describe-redis.js';

/** With its place in the list, a waiting session costs less than 1 kB of Redis. */
const MAX_JOB_BYTES = 900;

describeRedis('a job that waits', () => {
  it('is small: what holds for every job is an option of the worker', async () => {
    const redis = new Redis(testRedisUrl!);
    const prefix = `size-${randomUUID().slice(0, 8)}`;
    const location = { redisUrl: testRedisUrl, databaseUrl: '', prefix };
    const queue = openCompensationQueue(
      location,
      () => undefined,
      () => undefined,
    );
    try {
      const undoId = uuidv7();
      await expect.poll(() => queue.ping()).toBe(true);
      await queue.wakeAll([{ orgId: uuidv7(), sessionId: uuidv7(), undoId, fence: 0 }]);
      const job = (await redis.keys(`${prefix}:*`)).find((key) => key.includes(undoId));
      expect(await redis.memory('USAGE', job!)).toBeLessThanOrEqual(MAX_JOB_BYTES);
    } finally {
      await queue.close();
      await redis.del(await redis.keys(`${prefix}:*`));
      redis.disconnect();
    }
  });
});
