import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendServer } from '@undolog/backends/backend-server';
import { startPostgres } from '@undolog/backends/start-postgres';
import { startRedis } from '@undolog/backends/start-redis';
import { createSeededRandom } from '@undolog/demo/seeded-random';
import { migrateSchema } from '@undolog/migrations/migrate';
import { History } from '../agents/history.js';
import { openTenant, type Tenant } from '../agents/tenant.js';
import { drawFailpoints } from '../faults/failpoint-draws.js';
import { sql } from '../../support/look-at-backends.js';
import { ADMIN_TOKEN, ProductProcess } from '../../support/product.js';
import { Hops } from './hops.js';
import { Supervised, TWICE_THE_LOCK_MS } from './supervised.js';
import { Tally } from './tally.js';
import { VendorProcess } from './vendor-process.js';
import { WATCH_POSTGRES } from './watch-postgres.js';

export const QUEUE_PREFIX = 'chaos';
const APIS = 2;
const COMPENSATORS = 3;
const HOUR_MS = 3_600_000;
const ROWS_TRIES = 100;
const ROWS_WAIT_MS = 200;

/** Half of what is to be broken is not there. */
export class NoRedis extends Error {}

export interface StageOptions {
  readonly seed: number;
  /** Another copy of the built product. */
  readonly root?: string | undefined;
  /** What every process is armed with; by default, what the seed draws. */
  readonly failpoints?: string | undefined;
  /** How long a process that has frozen stays so. */
  readonly freezeMs?: number | undefined;
}

/** Everything that a run takes place on: all of it real, all of it its own, each hop of it breakable. */
export class Stage {
  readonly folder: string;
  readonly postgres: BackendServer;
  readonly redis: BackendServer;
  readonly hops = new Hops();
  readonly tally = new Tally();
  readonly history: History;
  readonly vendor: VendorProcess;
  readonly apis: Supervised[] = [];
  readonly compensators: Supervised[] = [];
  readonly tenants: Tenant[] = [];
  /** From now on processes start without failpoints. */
  calm = true;
  #killing: Promise<void> = Promise.resolve();

  private constructor(folder: string, postgres: BackendServer, redis: BackendServer, vendor: VendorProcess) {
    this.folder = folder;
    this.postgres = postgres;
    this.redis = redis;
    this.vendor = vendor;
    this.history = new History(join(folder, 'history.jsonl'));
  }

  static async open(options: StageOptions): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'undolog-chaos-'));
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    if (!redis) {
      await postgres.remove();
      throw new NoRedis('no Redis could be started');
    }
    const stage = new Stage(folder, postgres, redis, await VendorProcess.start(join(folder, 'vendor.jsonl')));
    try {
      await stage.#build(options);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  get processes(): readonly Supervised[] {
    return [...this.apis, ...this.compensators];
  }

  /** Waits for a Postgres that is down at the moment. */
  async rows<R extends object>(text: string): Promise<R[]> {
    for (let tries = 1; ; tries++) {
      try {
        return await sql<R>(this.postgres.url, text);
      } catch (error) {
        if (tries === ROWS_TRIES) throw error;
        await sleep(ROWS_WAIT_MS);
      }
    }
  }

  /** One kill at a time: a server that is starting can't be killed well. */
  killPostgres(): Promise<void> {
    this.#killing = this.#killing.then(() => this.#crashPostgres());
    return this.#killing;
  }

  /** Resolves when every process says that it can do all of its work. */
  async untilReady(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.untilReady()));
  }

  async #crashPostgres(): Promise<void> {
    this.tally.kills += 1;
    this.tally.count('Postgres killed at all');
    await this.postgres.stop('SIGKILL');
    await this.postgres.start();
  }

  /** Every process anew, in order, without failpoints. @returns how long each took to end. */
  async restartAll(): Promise<(number | undefined)[]> {
    return Promise.all(this.processes.map((one) => one.restart()));
  }

  /** Ends the product's processes and leaves what they wrote in the folder. */
  async endProduct(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.end()));
    for (const [n, { process }] of this.processes.entries()) {
      await writeFile(join(this.folder, `${process.role}-${n}.log`), process.log.join('\n'));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.end()));
    await this.vendor.stop();
    await this.hops.close();
    await Promise.all([this.postgres.remove(), this.redis.remove()]);
  }

  async removeFolder(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #build({ seed, root, failpoints, freezeMs = TWICE_THE_LOCK_MS }: StageOptions): Promise<void> {
    const { hops, postgres, redis, vendor } = this;
    await migrateSchema(postgres.url);
    await this.rows(WATCH_POSTGRES);
    const common: NodeJS.ProcessEnv = {
      PATH: process.env['PATH'],
      UNDOLOG_QUEUE_PREFIX: QUEUE_PREFIX,
      UNDOLOG_ADMIN_TOKEN: ADMIN_TOKEN,
      UNDOLOG_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      UNDOLOG_EGRESS_ALLOW: '127.0.0.1/32',
      UNDOLOG_SWEEP_MS: '1000',
      // All manners of the vendor live at one host; the breaker would take them for one outage.
      UNDOLOG_BREAKER_SESSIONS: '0',
    };
    const ways = async (role: 'api' | 'compensator'): Promise<NodeJS.ProcessEnv> => ({
      ...common,
      DATABASE_URL: await hops.open(`${role}_postgres`, postgres.url),
      REDIS_URL: await hops.open(`${role}_redis`, redis.url),
    });
    const [apiEnv, compensatorEnv] = [await ways('api'), await ways('compensator')];
    const supervise = (role: 'api' | 'compensator', env: NodeJS.ProcessEnv, n: number): Supervised => {
      const random = createSeededRandom(seed * 31 + n);
      const nextEnv = (): NodeJS.ProcessEnv =>
        this.calm ? {} : { UNDOLOG_FAILPOINTS: failpoints ?? drawFailpoints(random, role) };
      return new Supervised(new ProductProcess(role, env, root), nextEnv, this.tally, freezeMs);
    };
    for (let n = 0; n < APIS; n++) this.apis.push(supervise('api', apiEnv, n));
    for (let n = 0; n < COMPENSATORS; n++) {
      this.compensators.push(supervise('compensator', { ...compensatorEnv, ...oddity(n) }, APIS + n));
    }
    for (const one of this.processes) one.begin();
    await this.untilReady();
    await this.#openTenants(await hops.open('vendor', vendor.url), seed);
  }

  async #openTenants(vendorUrl: string, seed: number): Promise<void> {
    const random = createSeededRandom(seed);
    for (const [n, { process }] of this.apis.entries()) await this.hops.open(`api_${n}`, process.url);
    const pickApi = (): string => this.hops.urlOf(`api_${random.between(0, APIS - 1)}`);
    for (const name of ['first', 'second']) {
      this.tenants.push(await openTenant({ name, adminToken: ADMIN_TOKEN, vendorUrl, pickApi }));
    }
  }
}

/** A machine whose clock is an hour ahead, one an hour behind; one that sends its spans to nobody. */
function oddity(n: number): NodeJS.ProcessEnv {
  const shiftMs = [HOUR_MS, -HOUR_MS, 0][n % 3]!;
  if (shiftMs === 0) return { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const script = `const now = Date.now; Date.now = () => now() + ${shiftMs};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
