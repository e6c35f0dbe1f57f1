import { openProcess, type Process } from '@undolog/shared/process/open-process';
import { openQueueViews } from '@undolog/shared/queue/queue-views';
import type { Config } from '@undolog/shared/runtime/config';
import { checkUrlResolved, parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import type { Logger } from '@undolog/shared/runtime/logger';
import type { Tracing } from '@undolog/shared/runtime/tracing';
import { cacheCompensations } from '@undolog/shared/vendor/compensation-cache';
import { createVendorClient } from '@undolog/shared/vendor/compensation-call';
import { openCredentials } from '@undolog/shared/vendor/credentials';
import { apiReadiness } from './readiness.js';
import type { Resources } from './resources.js';

const TRAITS = {
  role: 'api',
  // Both stay below the time in which a client must know that Postgres is lost.
  connectTimeoutMs: 1400,
  queryTimeoutMs: 1400,
  maxInputsPerFlight: 100,
} as const;

export interface OpenResources extends Resources, Pick<Process, 'queueKind' | 'close'> {
  /** Ends the answers that would go on for ever. */
  endStreams(): void;
}

/** Opens what the API works with. */
export function openResources(config: Config, logger: Logger, tracing: Tracing | undefined): OpenResources {
  const onError = (err: Error): void => logger.warn({ err }, err.message);
  const process = openProcess(config, TRAITS, onError);
  const egress = parseEgressPolicy(config.egressAllow);
  const client = createVendorClient({ egress, connectionsPerOrigin: 4 });
  const findCompensation = cacheCompensations(process.database);
  const findCredentials = openCredentials(process.database);
  const closing = new AbortController();
  return {
    ...process,
    config,
    logger,
    tracing,
    vendor: { client, findCompensation, findCredentials },
    faultOfUrl: (url) => checkUrlResolved(egress, url),
    viewQueues: () => openQueueViews(process.queueLocation, onError),
    readiness: () => apiReadiness(process),
    closing: closing.signal,
    endStreams: () => closing.abort(),
    async close() {
      await Promise.all([process.close(), client.close(), tracing?.close()]);
    },
  };
}
