import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import { loadConfig } from '@undolog/shared/runtime/config';
import { createHealthServer } from '@undolog/shared/runtime/health-server';
import { createLogger } from '@undolog/shared/runtime/logger';
import { openTracing } from '@undolog/shared/runtime/open-tracing';
import { openCompensator } from './compensator.js';

/** Calls that are still open after this long are abandoned; the next try of such an entry has the same key. */
const ABANDON_AFTER_MS = 20_000;
const DRAIN_MS = 24_500;

const config = loadConfig();
const logger = createLogger({ service: 'compensator', level: config.logLevel });
for (const notice of config.notices) logger.warn(notice);

const compensator = openCompensator(config, logger, await openTracing(config, 'undolog-compensator', logger));
const health = createHealthServer({ readiness: compensator.readiness, metrics: compensator.metrics });
health.listen(config.healthPort);
await once(health, 'listening');
logger.info({ health_port: config.healthPort, queue: compensator.queueKind }, 'compensator started');

closeWithGrace({ delay: DRAIN_MS, logger: false }, async ({ err, signal }) => {
  if (err) logger.fatal({ err }, 'stopping on an error that nobody handled');
  else logger.info({ signal }, 'draining');
  await compensator.drain(ABANDON_AFTER_MS);
  health.close();
});
