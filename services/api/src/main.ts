import { once } from 'node:events';
import closeWithGrace from 'close-with-grace';
import { loadConfig } from '@undolog/shared/runtime/config';
import { createHealthServer } from '@undolog/shared/runtime/health-server';
import { createLogger } from '@undolog/shared/runtime/logger';
import { openTracing } from '@undolog/shared/runtime/open-tracing';
import { createApp } from './app.js';
import { closeHttpServer, createHttpServer } from './http-server.js';
import { openResources } from './open-resources.js';

const DRAIN_MS = 24_500;

const config = loadConfig();
const logger = createLogger({ service: 'api', level: config.logLevel });
for (const notice of config.notices) logger.warn(notice);

const resources = openResources(config, logger, await openTracing(config, 'undolog-api', logger));
const server = createHttpServer(createApp(resources));
const health = createHealthServer(resources);

server.listen(config.port);
health.listen(config.healthPort);
await Promise.all([once(server, 'listening'), once(health, 'listening')]);
logger.info({ port: config.port, health_port: config.healthPort, queue: resources.queueKind }, 'api started');

closeWithGrace({ delay: DRAIN_MS, logger: false }, async ({ err, signal }) => {
  if (err) logger.fatal({ err }, 'stopping on an error that nobody handled');
  else logger.info({ signal }, 'draining');
  resources.endStreams();
  await closeHttpServer(server);
  await resources.close();
  health.close();
});
