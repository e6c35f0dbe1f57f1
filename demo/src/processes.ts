import { randomBytes } from 'node:crypto';
import { Child } from '@undolog/backends/child';
import { freePort } from '@undolog/backends/free-port';
import { resolveBackends } from '@undolog/backends/resolve';

export interface UndoLogProcesses {
  readonly apiUrl: string;
  readonly adminToken: string;
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  /** One line on where Postgres and the queue come from. */
  readonly backends: string;
  readonly compensatorHealthUrls: readonly string[];
  stop(): Promise<void>;
}

const COMPENSATORS = 2;
const SWEEP_MS = 500;

/** Builds, migrates and starts UndoLog as it runs in production: an api and two compensators, each its own process. */
export async function startUndoLog(o: {
  readonly logDirectory: string;
  log(line: string): void;
}): Promise<UndoLogProcesses> {
  const { logDirectory } = o;
  o.log('building');
  await new Child({ name: 'build', args: ['scripts/bundle.mjs'], env: process.env, logDirectory }).output();
  const backends = await resolveBackends({ env: process.env, log: o.log });
  const children: Child[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()));
    await backends.stop();
  };
  try {
    const adminToken = randomBytes(24).toString('base64url');
    const env = childEnvironment(backends.databaseUrl, backends.redisUrl, adminToken);
    o.log('migrating');
    await new Child({ name: 'migrate', args: ['migrations/dist/main.js'], env, logDirectory }).output();

    const [apiPort, apiHealthPort, ...compensatorPorts] = await Promise.all(
      Array.from({ length: 2 + COMPENSATORS }, freePort),
    );
    const start = (name: string, script: string, ports: NodeJS.ProcessEnv): Child => {
      const child = new Child({ name, args: [script], env: { ...env, ...ports }, logDirectory });
      children.push(child);
      return child;
    };
    o.log(`starting the api and ${COMPENSATORS} compensators`);
    const apiUrl = `http://127.0.0.1:${apiPort}`;
    const api = start('api', 'services/api/dist/main.js', {
      PORT: String(apiPort),
      UNDOLOG_HEALTH_PORT: String(apiHealthPort),
    });
    const compensators = compensatorPorts.map((port, index) => ({
      url: `http://127.0.0.1:${port}`,
      child: start(`compensator-${index + 1}`, 'services/compensator/dist/main.js', {
        UNDOLOG_HEALTH_PORT: String(port),
      }),
    }));
    await Promise.all([
      api.untilReady(`${apiUrl}/readyz`),
      ...compensators.map(({ child, url }) => child.untilReady(`${url}/readyz`)),
    ]);
    return {
      apiUrl,
      adminToken,
      databaseUrl: backends.databaseUrl,
      redisUrl: backends.redisUrl,
      backends: backends.describe,
      compensatorHealthUrls: compensators.map(({ url }) => url),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function childEnvironment(databaseUrl: string, redisUrl: string | undefined, adminToken: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    UNDOLOG_ADMIN_TOKEN: adminToken,
    UNDOLOG_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    UNDOLOG_SWEEP_MS: String(SWEEP_MS),
    // The vendors of the demo live on this machine, which UndoLog would refuse to call by default.
    UNDOLOG_EGRESS_ALLOW: '127.0.0.0/8',
  };
  if (redisUrl === undefined) delete env['REDIS_URL'];
  else env['REDIS_URL'] = redisUrl;
  return env;
}
