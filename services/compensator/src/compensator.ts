import type { QueueKind } from '@undolog/shared/domain/queue-kind';
import { openProcess } from '@undolog/shared/process/open-process';
import { startCompensationWorker } from '@undolog/shared/queue/compensation-worker';
import type { Config } from '@undolog/shared/runtime/config';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import type { Readiness } from '@undolog/shared/runtime/health-server';
import type { Logger } from '@undolog/shared/runtime/logger';
import type { Metrics } from '@undolog/shared/runtime/metrics';
import type { Tracing } from '@undolog/shared/runtime/tracing';
import { cacheCompensations } from '@undolog/shared/vendor/compensation-cache';
import { createVendorClient } from '@undolog/shared/vendor/compensation-call';
import { openCredentials } from '@undolog/shared/vendor/credentials';
import { openAlerts } from './alerts.js';
import { createDeadLetterAnnouncer } from './dead-letter.js';
import { findHosts } from './entry-hosts.js';
import { shareFairly, slotsFor } from './fair-share.js';
import { HeldClaims } from './held-claims.js';
import { HostBreakers } from './host-breakers.js';
import { lookForEffect } from './look-for-effect.js';
import { readiness } from './readiness.js';
import { startSweeper } from './sweeper.js';
import { Unwinder } from './unwinder.js';

const TRAITS = {
  role: 'compensator',
  connectTimeoutMs: 5000,
  queryTimeoutMs: 10_000,
  maxInputsPerFlight: 200,
} as const;

export interface Compensator {
  readonly queueKind: QueueKind;
  readonly metrics: Metrics;
  readiness(): Promise<Readiness>;
  /** Takes no new work, waits for what is in flight, abandons calls that last longer, and lets everything go. */
  drain(abandonAfterMs: number): Promise<void>;
}

/** Builds the process from its configuration, in the order in which its parts need each other. */
export function openCompensator(config: Config, logger: Logger, tracing: Tracing | undefined): Compensator {
  const onError = (err: Error): void => logger.error({ err }, err.message);
  const process = openProcess(config, TRAITS, onError);
  const { commits, database, metrics, queue, queueKind, queueLocation, reach } = process;
  const claims = new HeldClaims(commits, onError);
  const deadLetters = createDeadLetterAnnouncer(database, queue, onError);
  const egress = parseEgressPolicy(config.egressAllow);
  const client = createVendorClient({
    egress,
    connectionsPerOrigin: slotsFor(config.concurrency),
    reach,
  });
  const breakers = new HostBreakers(database, { minSessions: config.breakerSessions }, onError);
  const abandon = new AbortController();
  const findCompensation = cacheCompensations(database);
  const findCredentials = openCredentials(database);
  const unwinder = new Unwinder({
    commits,
    claims,
    queue,
    client,
    breakers,
    findCompensation,
    findCredentials,
    deadLetters,
    metrics,
    logger,
    tracing,
    abandon: abandon.signal,
  });
  const lookups = { database, commits, client, findCompensation, findCredentials, abandon: abandon.signal };
  const worker = startCompensationWorker({
    location: queueLocation,
    concurrency: slotsFor(config.concurrency),
    handle: shareFairly(
      config.concurrency,
      (job, seen) => (job.task === 'lookup' ? lookForEffect(lookups, job) : unwinder.handle(job, seen)),
      findHosts(database, findCompensation),
    ),
    onForeignJob: () => logger.warn('a job that UndoLog did not write was dropped'),
    onError,
  });
  const alerts = openAlerts({ database, queueLocation, egress, abandon: abandon.signal, onError });
  const sweeper = startSweeper({
    alerts,
    ...process,
    deadLetters,
    sweepMs: config.sweepMs,
    retentionDays: config.retentionDays,
    onError,
  });

  return {
    queueKind,
    metrics,
    readiness: () => readiness(process),
    async drain(abandonAfterMs) {
      const timer = setTimeout(() => abandon.abort(), abandonAfterMs);
      await Promise.all([worker.close(), sweeper.stop().then(() => alerts.close())]);
      clearTimeout(timer);
      claims.stop();
      breakers.stop();
      await Promise.all([process.close(), client.close(), tracing?.close()]);
    },
  };
}
