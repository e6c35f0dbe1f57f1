import { describe } from 'vitest';

/**
 * The Redis of this run; undefined where there is none and the queue runs on BullMQ's Postgres backend. `npm test` sets
 * it (test/run.ts).
 */
export const testRedisUrl: string | undefined = process.env['REDIS_URL'] || undefined;

/**
 * `describe` for what is about Redis itself (a flush, an eviction, a restart). Without a Redis its tests are skipped by
 * name; everything else must hold on either queue and uses the plain `describe`.
 */
export const describeRedis: ReturnType<typeof describe.runIf> = testRedisUrl === undefined ? describe.skip : describe;
