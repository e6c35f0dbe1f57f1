import {
  createPostgresBackend,
  getDefaultBackendFactory,
  Queue,
  type BackendFactory,
  type ConnectionOptions,
  type JobsOptions,
} from 'bullmq';
import { QUEUE_SCHEMA } from '@undolog/shared/queue/names';
import { Redis } from 'ioredis';
import type { World } from './world.js';

const KINDS = ['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed'] as const;

/** Work on a queue of a world as somebody from outside could do it, over a connection of its own. */
export async function withQueue<T>(world: World, name: string, work: (queue: Queue) => Promise<T>): Promise<T> {
  const redis = world.redisUrl === undefined ? undefined : new Redis(world.redisUrl, { maxRetriesPerRequest: null });
  redis?.on('error', () => undefined);
  const connection = (redis ?? { connectionString: world.databaseUrl, schema: QUEUE_SCHEMA }) as ConnectionOptions;
  const factory = redis ? getDefaultBackendFactory() : (createPostgresBackend as unknown as BackendFactory);
  const queue = new Queue(name, { connection, prefix: world.queuePrefix }, factory) as unknown as Queue;
  queue.on('error', () => undefined);
  try {
    return await work(queue);
  } finally {
    await queue.close();
    redis?.disconnect();
  }
}

/** The data of every job that the queue holds, in whatever state. */
function jobData(world: World, name: string): Promise<Record<string, unknown>[]> {
  return withQueue(world, name, async (queue) => {
    const jobs = await queue.getJobs([...KINDS], 0, 10_000);
    return jobs.filter(Boolean).map((job) => job.data as Record<string, unknown>);
  });
}

export async function queuedDeadLetters(world: World, sessionId: string): Promise<Record<string, unknown>[]> {
  const data = await jobData(world, 'session-compensation-dead-letter');
  return data.filter((one) => one['session_id'] === sessionId);
}

export function queuedWakeUps(world: World): Promise<Record<string, unknown>[]> {
  return jobData(world, 'session-compensation');
}

/** A job that the product did not write; like the product's own it vanishes once it was taken. */
export async function addByHand(world: World, data: unknown, options: JobsOptions = {}): Promise<void> {
  const vanishing = { removeOnComplete: true, removeOnFail: true, ...options };
  await withQueue(world, 'session-compensation', (queue) => queue.add('by hand', data, vanishing));
}

/** Removes every job of the wake-up queue, also those that a worker holds. */
export async function obliterateQueue(world: World): Promise<void> {
  await withQueue(world, 'session-compensation', async (queue) => {
    await queue.obliterate({ force: true });
    await queue.resume();
  });
}
