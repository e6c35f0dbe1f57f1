import { forcedWay, type StartOptions } from './backend-server.js';
import { postgresFromEnvironment, redisFromEnvironment } from './from-environment.js';
import { startPostgres } from './start-postgres.js';
import { startRedis } from './start-redis.js';

/** The Postgres and the Redis that the demo, the tests and the bench run on. */
export interface Backends {
  readonly databaseUrl: string;
  /** Undefined where there is no Redis: the queue then runs on BullMQ's Postgres backend. */
  readonly redisUrl: string | undefined;
  /** What both are, for a person; without passwords. */
  readonly describe: string;
  /** Removes what was started; what the environment named stays as it is. */
  stop(): Promise<void>;
}

export interface ResolveOptions extends StartOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
}

interface Resolved {
  readonly url: string | undefined;
  readonly description: string;
  remove(): Promise<void>;
}

const nothingToRemove = (): Promise<void> => Promise.resolve();

async function resolvePostgres(options: ResolveOptions): Promise<Resolved & { readonly url: string }> {
  const way = forcedWay(options.env);
  const named = way === undefined || way === 'environment' ? await postgresFromEnvironment(options.env) : undefined;
  if (named === undefined) return startPostgres(options);
  options.log(`Postgres: ${named.description}`);
  return { ...named, remove: nothingToRemove };
}

async function resolveRedis(options: ResolveOptions): Promise<Resolved> {
  const way = forcedWay(options.env);
  const named = way === undefined || way === 'environment' ? await redisFromEnvironment(options.env) : undefined;
  if (named === undefined) {
    return (await startRedis(options)) ?? { url: undefined, description: 'no Redis', remove: nothingToRemove };
  }
  options.log(`Redis: ${named.description}`);
  return { ...named, remove: nothingToRemove };
}

/**
 * Finds or starts both, each by itself and by this order: the URL that the environment names, programs of this machine,
 * Docker, embedded. UNDOLOG_BACKENDS (environment, programs, docker or embedded) leaves only one of these. What is
 * started vanishes with this process, however it ends.
 */
export async function resolveBackends(options: ResolveOptions): Promise<Backends> {
  const [postgres, redis] = await Promise.allSettled([resolvePostgres(options), resolveRedis(options)]);
  if (postgres.status === 'rejected' || redis.status === 'rejected') {
    for (const one of [postgres, redis]) if (one.status === 'fulfilled') await one.value.remove();
    throw postgres.status === 'rejected' ? postgres.reason : (redis as PromiseRejectedResult).reason;
  }
  return {
    databaseUrl: postgres.value.url,
    redisUrl: redis.value.url,
    describe: `${postgres.value.description} · ${redis.value.description}`,
    stop: async () => void (await Promise.all([postgres.value.remove(), redis.value.remove()])),
  };
}
