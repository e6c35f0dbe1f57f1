import type { Reach } from '../domain/failpoints.js';
import type { QueueKind } from '../domain/queue-kind.js';
import { openCompensationQueue, type CompensationQueue } from '../queue/compensation-queue.js';
import type { QueueLocation } from '../queue/backend.js';
import type { Config } from '../runtime/config.js';
import { armFailpoints } from '../runtime/failpoints.js';
import { createMetrics, type Metrics } from '../runtime/metrics.js';
import { createVault } from '../runtime/vault.js';
import { openDatabase, type Database } from '../store/database.js';
import { GroupCommit } from '../store/group-commit.js';
import { measureStanding } from '../store/measure-standing.js';
import type { ProcessRole } from '../store/processes.js';
import { startBeacon } from './beacon.js';
import { findProcessFault, type ProcessFault } from './process-fault.js';

/** What differs between the processes. */
export interface ProcessTraits {
  readonly role: ProcessRole;
  readonly connectTimeoutMs: number;
  readonly queryTimeoutMs: number;
  readonly maxInputsPerFlight: number;
}

/** What every process of the product stands on. */
export interface Process {
  readonly queueKind: QueueKind;
  readonly queueLocation: QueueLocation;
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly queue: CompensationQueue;
  readonly metrics: Metrics;
  readonly reach: Reach;
  /** Why this process can't do all of its work, or undefined. Rejects when Postgres does not answer. */
  findFault(): Promise<ProcessFault | undefined>;
  /** To be called once nothing is in flight any more. */
  close(): Promise<void>;
}

/** More flights of one org would only wait for each other's session locks. */
const MAX_FLIGHTS_PER_ORG = 1;

/** Opens what both processes stand on. Nothing here waits for Postgres or Redis: until they answer, `findFault` says so. */
export function openProcess(config: Config, traits: ProcessTraits, onError: (error: Error) => void): Process {
  const { role, connectTimeoutMs, queryTimeoutMs, maxInputsPerFlight } = traits;
  const reach = armFailpoints(config.failpoints);
  const database = openDatabase({
    url: config.databaseUrl,
    vault: createVault(config.encryptionKey, config.previousEncryptionKeys),
    maxConnections: config.databaseConnections,
    connectTimeoutMs,
    queryTimeoutMs,
    onError,
    reach,
  });
  const queueLocation = { redisUrl: config.redisUrl, databaseUrl: config.databaseUrl, prefix: config.queuePrefix };
  const queue = openCompensationQueue(queueLocation, onError, reach);
  const findFault = (): Promise<ProcessFault | undefined> => findProcessFault(database, queue);
  const metrics = createMetrics({ readStanding: () => measureStanding(database), findFault });
  const commits = new GroupCommit(database, {
    maxFlightsPerOrg: MAX_FLIGHTS_PER_ORG,
    maxInputsPerFlight,
    onFailure: (kind) => metrics.commitFailures.inc({ kind }),
  });
  const beacon = startBeacon(database, { role, queueKind: queue.kind }, onError);
  return {
    queueKind: queue.kind,
    queueLocation,
    database,
    commits,
    queue,
    metrics,
    reach,
    findFault,
    async close() {
      await commits.drain();
      await beacon.stop();
      await Promise.all([queue.close(), database.close()]);
    },
  };
}
