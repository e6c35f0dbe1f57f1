import { forcedWay, takeFirstOpen, type BackendServer, type StartOptions } from './backend-server.js';
import { postgresInDocker } from './docker.js';
import { postgresFromNpm } from './embedded-postgres.js';
import { postgresOfThisMachine } from './postgres-programs.js';

/**
 * Starts a Postgres of our own, whatever DATABASE_URL says, so that it may be killed and started again: programs of the
 * machine, else Docker, else those that npm brought. Rejects if none of these is possible here.
 */
export async function startPostgres(options: StartOptions = {}): Promise<BackendServer> {
  const { env = process.env, log = () => undefined, durable = false } = options;
  const { found, passedOver } = await takeFirstOpen<BackendServer>(
    [
      ['programs', () => postgresOfThisMachine(env, durable)],
      ['docker', () => postgresInDocker(env, durable)],
      ['embedded', () => postgresFromNpm(durable)],
    ],
    forcedWay(env),
  );
  if (found === undefined) throw new Error(`no Postgres could be started (${passedOver}); set DATABASE_URL`);
  log(`Postgres: ${found.description}, private, on port ${found.port}${passedOver && ` (${passedOver})`}`);
  return found;
}
