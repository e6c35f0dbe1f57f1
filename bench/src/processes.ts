import { randomBytes } from 'node:crypto';
import { Child } from '@undolog/backends/child';
import { freePort } from '@undolog/backends/free-port';
import { freshDatabase } from '@undolog/backends/fresh-database';
import { resolveBackends } from '@undolog/backends/resolve';
import type { Workplace } from './workplace.js';

export interface Product {
  readonly apiUrls: readonly string[];
  readonly adminToken: string;
  readonly databaseUrl: string;
  /** One line on where Postgres and the queue come from. */
  readonly backends: string;
  /** Starts so many more compensators; resolves when all of them are ready. */
  startCompensators(count: number): Promise<void>;
  /** @throws if any of the processes has ended: what is left has not been what was measured. */
  assertAllRunning(): void;
}

/** One name for every run: jobs that a broken run left behind name entries of a database that is gone, and are dropped. */
const QUEUE_PREFIX = 'undolog-bench';

/**
 * Builds, migrates and starts UndoLog as it runs in production, each part a process of the built code with its default
 * settings, on an empty database of its own. Postgres is one that syncs its log to the disk.
 *
 * @param profileInto folder for CPU profiles of all processes, written when they end.
 */
export async function startProduct(
  workplace: Workplace,
  options: { readonly apis: number; readonly profileInto: string | undefined },
): Promise<Product> {
  const { log, folder: logDirectory } = workplace;
  log('building');
  await new Child({ name: 'build', args: ['scripts/bundle.mjs'], env: process.env, logDirectory }).output();

  const backends = await resolveBackends({ env: process.env, log, durable: true });
  workplace.onLeave(() => backends.stop());
  const database = await freshDatabase(backends.databaseUrl, 'undolog_bench');
  workplace.onLeave(() => database.drop());
  const adminToken = randomBytes(24).toString('base64url');
  const env = environmentOf(database.url, backends.redisUrl, adminToken);
  await new Child({ name: 'migrate', args: ['migrations/dist/main.js'], env, logDirectory }).output();

  const { profileInto } = options;
  const nodeOptions = profileInto === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileInto}`];
  const children: Child[] = [];
  async function start(part: 'api' | 'compensator', ports: NodeJS.ProcessEnv, url: string): Promise<void> {
    const script = `services/${part}/dist/main.js`;
    const name = `${part}-${children.length + 1}`;
    const child = new Child({ name, args: [...nodeOptions, script], env: { ...env, ...ports }, logDirectory });
    children.push(child);
    workplace.onLeave(() => child.stop());
    await child.untilReady(`${url}/readyz`);
  }

  async function startApi(): Promise<string> {
    const [port, health] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    await start('api', { PORT: String(port), UNDOLOG_HEALTH_PORT: String(health) }, url);
    return url;
  }

  async function startCompensator(): Promise<void> {
    const port = await freePort();
    await start('compensator', { UNDOLOG_HEALTH_PORT: String(port) }, `http://127.0.0.1:${port}`);
  }

  log(`starting ${options.apis} api`);
  const apiUrls = await Promise.all(Array.from({ length: options.apis }, startApi));
  return {
    apiUrls,
    adminToken,
    databaseUrl: database.url,
    backends: backends.describe,
    async startCompensators(count) {
      log(`starting ${count} compensators`);
      await Promise.all(Array.from({ length: count }, startCompensator));
    },
    assertAllRunning() {
      for (const child of children) if (child.ended) throw child.failure('ended during the run');
    },
  };
}

function environmentOf(databaseUrl: string, redisUrl: string | undefined, adminToken: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    UNDOLOG_ADMIN_TOKEN: adminToken,
    UNDOLOG_QUEUE_PREFIX: QUEUE_PREFIX,
    // The vendor lives on this machine, which UndoLog refuses to call by default.
    UNDOLOG_EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  };
  if (redisUrl === undefined) delete env['REDIS_URL'];
  else env['REDIS_URL'] = redisUrl;
  return env;
}
