import { createPostgresBackend, getDefaultBackendFactory, type BackendFactory } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { QueueKind } from '../domain/queue-kind.js';
import { QUEUE_SCHEMA } from './names.js';

export interface QueueLocation {
  /** Undefined: the queue runs on Postgres, through BullMQ's own backend. */
  readonly redisUrl: string | undefined;
  readonly databaseUrl: string;
  readonly prefix: string;
}

/** What BullMQ's classes need to reach one place. */
export interface QueueBackend {
  readonly kind: QueueKind;
  readonly connection: Redis | { readonly connectionString: string; readonly schema: string };
  readonly factory: BackendFactory;
  close(): void;
}

type Role = 'producer' | 'consumer' | 'viewer';

// A producer must fail at once when Redis is away: what it wanted to say is in Postgres, and the sweep says it later.
const PRODUCER: RedisOptions = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 2000 };

// A consumer must outlast any outage, however long.
const CONSUMER: RedisOptions = { maxRetriesPerRequest: null };

// Somebody who looks may wait a moment, and then wants to know that there is nothing to be seen.
const VIEWER: RedisOptions = { maxRetriesPerRequest: 1, commandTimeout: 2000 };

const OPTIONS: Readonly<Record<Role, RedisOptions>> = { producer: PRODUCER, consumer: CONSUMER, viewer: VIEWER };

const EVERY_ROLE: RedisOptions = {
  connectTimeout: 2000,
  // Tries again for ever: soon at first, then each second.
  retryStrategy: (tries) => Math.min(50 * 2 ** Math.min(tries, 10), 1000),
  // It would look for its own version in a package.json that is not where our processes run from.
  disableClientInfo: true,
};

export function openQueueBackend(location: QueueLocation, role: Role, onError: (error: Error) => void): QueueBackend {
  if (location.redisUrl === undefined) {
    return {
      kind: 'postgres',
      connection: { connectionString: location.databaseUrl, schema: QUEUE_SCHEMA },
      factory: createPostgresBackend as unknown as BackendFactory,
      close: () => undefined,
    };
  }
  const redis = new Redis(location.redisUrl, { ...EVERY_ROLE, ...OPTIONS[role] });
  redis.on('error', onError);
  return { kind: 'redis', connection: redis, factory: getDefaultBackendFactory(), close: () => redis.disconnect() };
}
