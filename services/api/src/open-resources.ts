import type { QueueKind } from '@undolog/shared/domain/queue-kind';
import { openCompensationQueue } from '@undolog/shared/queue/compensation-queue';
import type { Config } from '@undolog/shared/runtime/config';
import { checkUrlResolved, parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import type { Logger } from '@undolog/shared/runtime/logger';
import { createMetrics } from '@undolog/shared/runtime/metrics';
import { openDatabase } from '@undolog/shared/store/database';
import { GroupCommit } from '@undolog/shared/store/group-commit';
import { measureStanding } from '@undolog/shared/store/measure-standing';
import { startBeacon } from './process-beacon.js';
import { apiReadiness } from './readiness.js';
import type { Resources } from './resources.js';

/** Both stay below the time in which a client must know that Postgres is lost. */
const CONNECT_TIMEOUT_MS = 1400;
const QUERY_TIMEOUT_MS = 1400;

const MAX_FLIGHTS_PER_ORG = 1;
const MAX_INPUTS_PER_FLIGHT = 100;

export interface OpenResources extends Resources {
  readonly queueKind: QueueKind;
  /** To be called once no request is in flight any more. */
  close(): Promise<void>;
}

/** Opens what the API works with. Nothing here waits for Postgres or Redis: until they answer, `/readyz` says so. */
export function openResources(config: Config, logger: Logger): OpenResources {
  const onError = (err: Error): void => logger.warn({ err }, err.message);
  const database = openDatabase({
    url: config.databaseUrl,
    maxConnections: config.databaseConnections,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError,
  });
  const location = { redisUrl: config.redisUrl, databaseUrl: config.databaseUrl, prefix: config.queuePrefix };
  const queue = openCompensationQueue(location, onError);
  const groupCommit = new GroupCommit(database, {
    maxFlightsPerOrg: MAX_FLIGHTS_PER_ORG,
    maxInputsPerFlight: MAX_INPUTS_PER_FLIGHT,
  });
  const egress = parseEgressPolicy(config.egressAllow);
  const beacon = startBeacon({ database, role: 'api', queueKind: queue.kind, logger });
  return {
    config,
    logger,
    metrics: createMetrics({ readStanding: () => measureStanding(database) }),
    database,
    groupCommit,
    queue,
    queueKind: queue.kind,
    faultOfUrl: (url) => checkUrlResolved(egress, url),
    readiness: apiReadiness(database, queue),
    async close() {
      await groupCommit.drain();
      await beacon.stop();
      await Promise.all([queue.close(), database.close()]);
    },
  };
}
