import { loadConfig } from '@undolog/shared/runtime/config';
import { createLogger } from '@undolog/shared/runtime/logger';
import { migrateSchema } from './migrate.js';
import { migrateQueue } from './migrate-queue.js';

const config = loadConfig();
const logger = createLogger({ service: 'migrate', level: config.logLevel });
try {
  const ran = await migrateSchema(config.databaseUrl);
  if (config.redisUrl === undefined) await migrateQueue(config.databaseUrl);
  logger.info({ ran }, ran.length > 0 ? 'schema migrated' : 'schema is up to date');
} catch (error) {
  logger.fatal({ err: error }, 'migration failed; nothing of the failing version was kept');
  process.exitCode = 1;
}
