import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import { closed, type BackendServer, type WayOutcome } from './backend-server.js';
import { dockerEngineAnswers } from './docker-engine.js';
import { freePort } from './free-port.js';
import { postgresAnswers } from './fresh-database.js';
import { postgresSettings } from './postgres-server.js';
import { redisAnswers } from './redis-answers.js';
import { redisSettings } from './redis-server.js';

const POSTGRES_IMAGE = 'postgres:17-alpine';
const REDIS_IMAGE = 'redis:8-alpine';
/** For pulling the image too; a registry out of reach may take for ever to say so. */
const START_LIMIT_MS = 120_000;
const READY_TRIES = 240;
const READY_PAUSE_MS = 250;

interface Recipe {
  readonly image: string;
  readonly container: GenericContainer;
  readonly innerPort: number;
  readonly readyLine: RegExp;
  readonly urlAt: (hostAndPort: string) => string;
  readonly answers: (url: string) => Promise<unknown>;
}

async function untilItAnswers(answers: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await answers();
      return;
    } catch (error) {
      if (tries === READY_TRIES) throw error;
      await sleep(READY_PAUSE_MS);
    }
  }
}

/** Gives up on a start that takes too long; what still comes of it is removed. */
async function withinLimit(starting: Promise<StartedTestContainer>, image: string): Promise<StartedTestContainer> {
  const limit = new AbortController();
  try {
    const started = await Promise.race([starting, sleep(START_LIMIT_MS, undefined, { signal: limit.signal })]);
    if (started !== undefined) return started;
  } finally {
    limit.abort();
  }
  void starting.then((late) => late.stop()).catch(() => undefined);
  throw new Error(`${image} did not start in ${START_LIMIT_MS} ms`);
}

/**
 * Starts the container on a host port of our choice, which it keeps when it is stopped and started again. Testcontainers'
 * own reaper removes it if we end without having done so.
 */
async function runContainer(recipe: Recipe): Promise<BackendServer> {
  const { getContainerRuntimeClient, Wait } = await import('testcontainers');
  const port = await freePort();
  const started = await withinLimit(
    recipe.container
      .withExposedPorts({ container: recipe.innerPort, host: port })
      .withWaitStrategy(Wait.forLogMessage(recipe.readyLine))
      .withStartupTimeout(START_LIMIT_MS)
      .start(),
    recipe.image,
  );
  const url = recipe.urlAt(`${started.getHost()}:${port}`);
  const { container: containers } = await getContainerRuntimeClient();
  const container = containers.getById(started.getId());
  let running = true;
  try {
    await untilItAnswers(() => recipe.answers(url));
  } catch (error) {
    await started.stop({ timeout: 0 });
    throw error;
  }
  return {
    url,
    port,
    description: `${recipe.image} in Docker`,
    async stop(signal = 'SIGINT') {
      if (!running) return;
      const ended = container.wait();
      await container.kill({ signal });
      await ended;
      running = false;
    },
    async start() {
      await container.start();
      running = true;
      await untilItAnswers(() => recipe.answers(url));
    },
    remove: async () => void (await started.stop({ timeout: 0 })),
  };
}

/** A private Postgres in a container. */
export async function postgresInDocker(env: NodeJS.ProcessEnv, durable: boolean): Promise<WayOutcome<BackendServer>> {
  if (!(await dockerEngineAnswers(env))) return closed('no engine answers');
  const { GenericContainer } = await import('testcontainers');
  const password = randomBytes(16).toString('hex');
  const settings = { POSTGRES_USER: 'undolog', POSTGRES_PASSWORD: password, POSTGRES_DB: 'undolog' };
  const container = new GenericContainer(POSTGRES_IMAGE)
    .withEnvironment(settings)
    .withCommand(['postgres', ...postgresSettings(durable)]);
  const found = await runContainer({
    image: POSTGRES_IMAGE,
    container,
    innerPort: 5432,
    readyLine: /ready to accept connections/,
    urlAt: (hostAndPort) => `postgres://undolog:${password}@${hostAndPort}/undolog`,
    answers: postgresAnswers,
  });
  return { open: true, found };
}

/** A private Redis in a container. */
export async function redisInDocker(env: NodeJS.ProcessEnv, durable: boolean): Promise<WayOutcome<BackendServer>> {
  if (!(await dockerEngineAnswers(env))) return closed('no engine answers');
  const { GenericContainer } = await import('testcontainers');
  const password = randomBytes(16).toString('hex');
  const settings = [...redisSettings(durable), ['requirepass', password]] as const;
  const flags = settings.flatMap(([name, value]) => [`--${name}`, value === '""' ? '' : value]);
  const found = await runContainer({
    image: REDIS_IMAGE,
    container: new GenericContainer(REDIS_IMAGE).withCommand(['redis-server', ...flags]),
    innerPort: 6379,
    readyLine: /Ready to accept connections/,
    urlAt: (hostAndPort) => `redis://:${password}@${hostAndPort}`,
    answers: redisAnswers,
  });
  return { open: true, found };
}
