import { connect } from 'node:net';
import { Redis } from 'ioredis';
import pg from 'pg';

/** One statement over a connection of its own. */
export async function sql<R extends object>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

/** One piece of work over a connection of its own that does not wait for a Redis to come back. */
export async function redisOnce<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  await redis.connect();
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** Whether anybody listens on the port of 127.0.0.1. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** The environment of a machine on which nothing is named. */
export function bare(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { DATABASE_URL: _database, REDIS_URL: _redis, UNDOLOG_BACKENDS: _way, ...rest } = process.env;
  return { ...rest, ...more };
}
