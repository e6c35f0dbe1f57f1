import { randomBytes } from 'node:crypto';
import { freshDatabase, type FreshDatabase } from '@undolog/backends/fresh-database';
import { migrateQueue } from '@undolog/migrations/migrate-queue';
import { migrateSchema } from '@undolog/migrations/migrate';
import pg from 'pg';
import { expect } from 'vitest';
import { bodyOf, Org } from './api-client.js';
import { testRedisUrl } from './describe-redis.js';
import { redisOnce } from './look-at-backends.js';
import { migratedDatabase } from './migrated-database.js';
import { ADMIN_TOKEN, ProductProcess, type StartOptions } from './product.js';
import { VendorSimulator } from './vendor-simulator.js';

export interface WorldOptions {
  /** Lower-case letters, digits and `_`; names the database and the queue. */
  readonly name: string;
  readonly compensators?: number;
  /** For every process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Only for the api, such as a faulty hop to the world's database. */
  readonly apiEnv?: (databaseUrl: string) => Promise<NodeJS.ProcessEnv>;
  readonly compensatorEnv?: NodeJS.ProcessEnv;
  /** The server in which the world's database is made; default: that of the run. */
  readonly databaseServerUrl?: string;
  /** Default: that of the run. Undefined where there is none. */
  readonly redisUrl?: string | undefined;
}

/**
 * Everything that one test file needs of its own: a database with the schema, a prefix in Redis, a vendor, an api and
 * compensators as real processes.
 */
export class World {
  readonly vendor: VendorSimulator;
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly queuePrefix: string;
  readonly api: ProductProcess;
  readonly compensators: ProductProcess[] = [];
  readonly #otherApis: ProductProcess[] = [];
  readonly #options: WorldOptions;
  readonly #pool: pg.Pool;
  readonly #dropDatabase: () => Promise<void>;
  readonly #env: NodeJS.ProcessEnv;

  constructor(options: WorldOptions, database: FreshDatabase, vendor: VendorSimulator, apiEnv: NodeJS.ProcessEnv) {
    this.#options = options;
    this.vendor = vendor;
    this.databaseUrl = database.url;
    this.#dropDatabase = () => database.drop();
    this.queuePrefix = database.name;
    this.redisUrl = 'redisUrl' in options ? options.redisUrl : testRedisUrl;
    this.#pool = new pg.Pool({ connectionString: database.url, max: 4 });
    this.#pool.on('error', () => undefined);
    this.#env = {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      ...(this.redisUrl === undefined ? {} : { REDIS_URL: this.redisUrl }),
      UNDOLOG_QUEUE_PREFIX: this.queuePrefix,
      UNDOLOG_ADMIN_TOKEN: ADMIN_TOKEN,
      UNDOLOG_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      UNDOLOG_EGRESS_ALLOW: '127.0.0.1/32',
      UNDOLOG_SWEEP_MS: '500',
      ...options.env,
    };
    this.api = new ProductProcess('api', { ...this.#env, ...apiEnv });
  }

  /** Another compensator, not yet started. */
  addCompensator(env: NodeJS.ProcessEnv = {}): ProductProcess {
    const compensator = new ProductProcess('compensator', { ...this.#env, ...this.#options.compensatorEnv, ...env });
    this.compensators.push(compensator);
    return compensator;
  }

  /** Another api, not yet started. */
  addApi(env: NodeJS.ProcessEnv): ProductProcess {
    const api = new ProductProcess('api', { ...this.#env, ...env });
    this.#otherApis.push(api);
    return api;
  }

  /** The only compensator, or the first. */
  get compensator(): ProductProcess {
    return this.compensators[0]!;
  }

  /** The same org, spoken to through another api or with another key. */
  orgAt(api: ProductProcess, { orgId, apiKey }: Pick<Org, 'orgId' | 'apiKey'>): Org {
    return new Org(() => api.url, this.vendor, orgId, apiKey);
  }

  async newOrg(name = 'a test'): Promise<Org> {
    const url = (): string => this.api.url;
    const nobody = new Org(url, this.vendor, '', ADMIN_TOKEN);
    const answer = await nobody.post('/v1/orgs', { name });
    expect(answer.status, answer.text).toBe(201);
    const made = bodyOf<{ org_id: string; api_key: string }>(answer);
    return new Org(url, this.vendor, made.org_id, made.api_key);
  }

  /** A look at the tables. */
  async rows<R extends object>(text: string, ...values: unknown[]): Promise<R[]> {
    return (await this.#pool.query<R>(text, values)).rows;
  }

  /**
   * Moves the end of a session's lease, so that no test depends on how long its own steps take.
   *
   * @returns when the lease ends now, in milliseconds since 1970.
   */
  async leaseEndsIn(sessionId: string, ms: number): Promise<number> {
    const [row] = await this.rows<{ ms: number }>(
      `UPDATE undolog_sessions SET lease_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
      WHERE session_id = $1 RETURNING extract(epoch FROM lease_expires_at)::float8 * 1000 AS ms`,
      sessionId,
      ms,
    );
    return row!.ms;
  }

  /** Makes a session an hour older. */
  async makeOlder(sessionId: string): Promise<void> {
    await this.rows(
      `UPDATE undolog_sessions SET created_at = created_at - interval '1 hour' WHERE session_id = $1`,
      sessionId,
    );
  }

  async start(options: StartOptions = {}): Promise<void> {
    await Promise.all([this.api, ...this.compensators].map((one) => one.start(options)));
  }

  /** Removes everything. @throws when a process has died that no test had ended. */
  async close(): Promise<void> {
    const processes = [this.api, ...this.#otherApis, ...this.compensators];
    for (const one of processes) one.thaw();
    await Promise.all(processes.map((one) => one.kill()));
    await this.#pool.end();
    await this.vendor.close();
    await this.#removeQueue().catch(() => undefined);
    await this.#dropDatabase().catch(() => undefined);
    const died = processes.flatMap((one) => one.died ?? []);
    if (died.length > 0) throw new Error(died.join('\n'));
  }

  /** A Redis that the user named is left as it was. */
  async #removeQueue(): Promise<void> {
    if (this.redisUrl === undefined) return;
    await redisOnce(this.redisUrl, async (redis) => {
      const keys = await redis.keys(`${this.queuePrefix}:*`);
      if (keys.length > 0) await redis.del(keys);
    });
  }
}

/** A world that runs: every process is ready. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const world = await prepareWorld(options);
  try {
    await world.start();
    return world;
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function databaseOf({ name, databaseServerUrl }: WorldOptions): Promise<FreshDatabase> {
  if (databaseServerUrl === undefined) return migratedDatabase(`e2e_${name}`);
  const database = await freshDatabase(databaseServerUrl, `e2e_${name}`);
  await migrateSchema(database.url);
  return database;
}

/** A world whose processes are still to be started. */
export async function prepareWorld(options: WorldOptions): Promise<World> {
  const database = await databaseOf(options);
  const redisUrl = 'redisUrl' in options ? options.redisUrl : testRedisUrl;
  if (redisUrl === undefined) await migrateQueue(database.url);
  const vendor = new VendorSimulator();
  await vendor.listen();
  const world = new World(options, database, vendor, (await options.apiEnv?.(database.url)) ?? {});
  for (let n = 0; n < (options.compensators ?? 1); n++) world.addCompensator();
  return world;
}
