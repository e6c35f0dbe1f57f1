import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { redisOnce } from '../../support/look-at-backends.js';
import { QUEUE_PREFIX, type Stage } from '../stage/stage.js';

const VANISHING = { removeOnComplete: true, removeOnFail: true } as const;

export function flush(stage: Stage): Promise<void> {
  return redisOnce(stage.redis.url, async (redis) => void (await redis.flushall()));
}

export function setMemory(stage: Stage, policy: string, bytes: number): Promise<void> {
  return redisOnce(stage.redis.url, async (redis) => {
    await redis.config('SET', 'maxmemory-policy', policy);
    await redis.config('SET', 'maxmemory', String(bytes));
  });
}

/** Every job that waits, twice and in the wrong order; jobs that name entries of others; jobs that are none. */
export async function forgeJobs(stage: Stage): Promise<void> {
  const rows = await stage.rows<{ org_id: string; session_id: string; undo_id: string }>(
    'SELECT org_id, session_id, undo_id FROM undolog_undo_stack ORDER BY random() LIMIT 200',
  );
  const redis = new Redis(stage.redis.url, { maxRetriesPerRequest: null });
  const queue = new Queue('session-compensation', { connection: redis, prefix: QUEUE_PREFIX });
  try {
    const strangers = rows.map((row, n) => ({ ...row, org_id: rows[(n + 1) % rows.length]!.org_id }));
    const forged = [...rows, ...rows.toReversed(), ...strangers, { org_id: 'nobody' }, null, 'text', { a: 1 }];
    await queue.addBulk(forged.map((data) => ({ name: 'by hand', data: data as object, opts: VANISHING })));
  } finally {
    await queue.close();
    redis.disconnect();
  }
}
