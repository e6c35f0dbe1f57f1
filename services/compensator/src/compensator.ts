import type { QueueKind } from '@undolog/shared/domain/queue-kind';
import { openCompensationQueue } from '@undolog/shared/queue/compensation-queue';
import { startCompensationWorker } from '@undolog/shared/queue/compensation-worker';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import type { Config } from '@undolog/shared/runtime/config';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import type { Readiness } from '@undolog/shared/runtime/health-server';
import type { Logger } from '@undolog/shared/runtime/logger';
import { createMetrics, type Metrics } from '@undolog/shared/runtime/metrics';
import { openDatabase } from '@undolog/shared/store/database';
import { GroupCommit } from '@undolog/shared/store/group-commit';
import { measureStanding } from '@undolog/shared/store/measure-standing';
import { forgetProcess, type ProcessRecord } from '@undolog/shared/store/processes';
import { cacheCompensations } from './compensation-cache.js';
import { createVendorClient } from './compensation-call.js';
import { createDeadLetterAnnouncer } from './dead-letter.js';
import { shareFairly, slotsFor } from './fair-share.js';
import { HeldClaims } from './held-claims.js';
import { readiness } from './readiness.js';
import { startSweeper } from './sweeper.js';
import { Unwinder } from './unwinder.js';

const CONNECT_TIMEOUT_MS = 5000;
const QUERY_TIMEOUT_MS = 10_000;
const MAX_FLIGHTS_PER_ORG = 1;
const MAX_ENTRIES_PER_FLIGHT = 200;

export interface Compensator {
  readonly queueKind: QueueKind;
  readonly metrics: Metrics;
  readiness(): Promise<Readiness>;
  /** Takes no new work, waits for what is in flight, abandons calls that last longer, and lets everything go. */
  drain(abandonAfterMs: number): Promise<void>;
}

/** Builds the process from its configuration, in the order in which its parts need each other. */
export async function openCompensator(config: Config, logger: Logger): Promise<Compensator> {
  const onError = (err: Error): void => logger.error({ err }, err.message);
  const database = openDatabase({
    url: config.databaseUrl,
    maxConnections: config.databaseConnections,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError,
  });
  const location = { redisUrl: config.redisUrl, databaseUrl: config.databaseUrl, prefix: config.queuePrefix };
  const queue = openCompensationQueue(location, onError);
  const commits = new GroupCommit(database, {
    maxFlightsPerOrg: MAX_FLIGHTS_PER_ORG,
    maxInputsPerFlight: MAX_ENTRIES_PER_FLIGHT,
  });
  const metrics = createMetrics({ readStanding: () => measureStanding(database) });
  const claims = new HeldClaims(commits, onError);
  const deadLetters = createDeadLetterAnnouncer(database, queue, onError);
  const client = createVendorClient({
    egress: parseEgressPolicy(config.egressAllow),
    connectionsPerOrigin: slotsFor(config.concurrency),
  });
  const abandon = new AbortController();
  const unwinder = new Unwinder({
    commits,
    claims,
    queue,
    client,
    findCompensation: cacheCompensations(database),
    deadLetters,
    metrics,
    logger,
    abandon: abandon.signal,
  });
  const worker = startCompensationWorker({
    location,
    concurrency: slotsFor(config.concurrency),
    handle: shareFairly(config.concurrency, (payload) => unwinder.handle(payload)),
    onForeignJob: () => logger.warn('a job that UndoLog did not write was dropped'),
    onError,
  });
  const process: ProcessRecord = { processId: uuidv7(), role: 'compensator', queueKind: queue.kind };
  const { sweepMs } = config;
  const sweeper = startSweeper({ database, commits, queue, deadLetters, metrics, process, sweepMs, onError });

  return {
    queueKind: queue.kind,
    metrics,
    readiness: () => readiness(database, queue),
    async drain(abandonAfterMs) {
      const timer = setTimeout(() => abandon.abort(), abandonAfterMs);
      await Promise.all([worker.close(), sweeper.stop()]);
      clearTimeout(timer);
      claims.stop();
      await commits.drain();
      await forgetProcess(database, process.processId).catch(onError);
      await Promise.all([queue.close(), client.close(), database.close()]);
    },
  };
}
