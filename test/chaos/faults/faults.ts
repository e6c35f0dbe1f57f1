import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis } from '@undolog/backends/start-redis';
import type { Fault } from '../../support/fault-proxy.js';
import { redisOnce } from '../../support/look-at-backends.js';
import type { HopName } from '../stage/hops.js';
import type { Stage } from '../stage/stage.js';
import { flush, forgeJobs, setMemory } from './queue-vandal.js';

/** Does its harm and heals it; what it leaves behind is the product's to mend. */
export type Strike = (stage: Stage) => Promise<void>;

const SOME_MS = 2500;

const hop =
  (name: HopName, fault: Fault): Strike =>
  async ({ hops }) => {
    hops.get(name).fault = fault;
    await sleep(SOME_MS);
    hops.get(name).fault = 'pass';
  };

const trouble =
  (sqlstate: string): Strike =>
  async (stage) => {
    await stage.rows(`INSERT INTO chaos_trouble VALUES ('${sqlstate}')`);
    await sleep(SOME_MS);
    await stage.rows('DELETE FROM chaos_trouble');
  };

async function killPostgres(stage: Stage): Promise<void> {
  await stage.killPostgres();
  const fromMs = performance.now();
  for (const { process } of stage.apis) {
    while ((await process.readiness().catch(() => undefined))?.status !== 200) {
      // It may have been killed meanwhile, which is another matter.
      if (!process.alive) return;
      await sleep(50);
    }
  }
  stage.tally.recovered('Postgres back → every api ready', performance.now() - fromMs);
}

async function readOnly(stage: Stage): Promise<void> {
  const set = (value: string): Promise<object[]> =>
    stage
      .rows(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      .then(() => stage.rows('SELECT pg_reload_conf()'));
  await set('on');
  await sleep(SOME_MS);
  await set('off');
}

async function killRedis(stage: Stage): Promise<void> {
  stage.tally.kills += 1;
  await stage.redis.stop('SIGKILL');
  await stage.redis.start();
}

const redisAway =
  (ms: number): Strike =>
  async (stage) => {
    stage.tally.kills += 1;
    await stage.redis.stop('SIGKILL');
    await sleep(ms);
    await stage.redis.start();
  };

/** A replica that has stopped listening some time ago becomes the one that counts; later, the old one again. */
async function staleFailover({ redis, hops }: Stage): Promise<void> {
  const replica = await startRedis();
  if (!replica) return;
  const { port, password } = new URL(redis.url);
  try {
    await redisOnce(replica.url, async (connection) => {
      await connection.config('SET', 'masterauth', decodeURIComponent(password));
      await connection.replicaof('127.0.0.1', port);
      await sleep(SOME_MS);
      await connection.replicaof('NO', 'ONE');
      // The hops' passwords are those of the first.
      await connection.config('SET', 'requirepass', decodeURIComponent(password));
    });
    await sleep(SOME_MS);
    for (const url of [replica.url, redis.url]) {
      for (const name of ['api_redis', 'compensator_redis'] as const) {
        hops.get(name).leadTo(url);
        hops.get(name).fault = 'cut';
        hops.get(name).fault = 'pass';
      }
      await sleep(SOME_MS);
    }
  } finally {
    await replica.remove();
  }
}

async function evict(stage: Stage): Promise<void> {
  await setMemory(stage, 'allkeys-random', 1_500_000);
  await sleep(SOME_MS);
  await setMemory(stage, 'noeviction', 0);
}

async function rollingRestart(stage: Stage): Promise<void> {
  for (const one of stage.processes) {
    const tookMs = await one.restart();
    if (tookMs !== undefined) stage.tally.recovered('SIGTERM → ended', tookMs);
  }
}

async function freeze(stage: Stage): Promise<void> {
  for (const one of stage.compensators.slice(1)) one.freeze();
  await sleep(SOME_MS);
}

async function hangVendor(stage: Stage): Promise<void> {
  stage.vendor.hang(stage.tenants[1]!.orgId, 2 * SOME_MS);
  await sleep(SOME_MS);
}

/** Every fault that has a beginning and an end. Kills at failpoints, odd vendors and odd agents go on all the time. */
export const FAULTS = {
  'Redis flushed': async (stage) => {
    for (let times = 0; times < 5; times++) {
      await flush(stage);
      await sleep(500);
    }
  },
  'Redis killed': killRedis,
  'Redis away': redisAway(8000),
  'Redis away for a minute': redisAway(60_000),
  'stale failover of Redis': staleFailover,
  'Redis that evicts': evict,
  'jobs forged': forgeJobs,
  'Redis answers lost': hop('compensator_redis', 'lose_answers'),
  'Redis connections reset midway': hop('api_redis', 'reset_midway'),
  'Postgres killed': killPostgres,
  'Postgres killed again': killPostgres,
  'Postgres half open for apis': hop('api_postgres', 'black_hole'),
  'Postgres half open for compensators': hop('compensator_postgres', 'black_hole'),
  'answers of Postgres lost for apis': hop('api_postgres', 'lose_answers'),
  'answers of Postgres lost for compensators': hop('compensator_postgres', 'lose_answers'),
  'Postgres half closed': hop('compensator_postgres', 'half_close'),
  'Postgres connections reset midway': hop('api_postgres', 'reset_midway'),
  'Postgres read-only': readOnly,
  'Postgres disk full': trouble('53100'),
  'Postgres deadlocks': trouble('40P01'),
  'Postgres serialization failures': trouble('40001'),
  'vendor cut off': hop('vendor', 'cut'),
  'vendor in a black hole': hop('vendor', 'black_hole'),
  'answers of the vendor lost': hop('vendor', 'lose_answers'),
  'one org’s vendor hangs': hangVendor,
  'answers of the api lost': hop('api_0', 'lose_answers'),
  'api cut off': hop('api_1', 'cut'),
  'rolling restart': rollingRestart,
  'compensators frozen': freeze,
} as const satisfies Record<string, Strike>;

export type FaultName = keyof typeof FAULTS;

/** Too long for every change. */
export const LONG_FAULTS: ReadonlySet<FaultName> = new Set(['Redis away for a minute']);
