import { existsSync } from 'node:fs';
import { request, type RequestOptions } from 'node:http';
import { homedir } from 'node:os';

const PING_LIMIT_MS = 2_000;

/** Where Testcontainers looks too, in its order. */
function engineAddress(env: NodeJS.ProcessEnv): RequestOptions | 'trust' | undefined {
  const named = env['DOCKER_HOST'];
  if (named !== undefined && named !== '') {
    const { protocol, hostname, port, pathname } = new URL(named);
    if (protocol === 'unix:') return { socketPath: pathname };
    // One behind TLS needs certificates that Testcontainers knows how to find.
    return env['DOCKER_TLS_VERIFY'] === '1' ? 'trust' : { host: hostname, port: port || 2375 };
  }
  const uid = String(process.getuid?.() ?? '');
  const runtime = env['XDG_RUNTIME_DIR'] ?? `/run/user/${uid}`;
  const home = `${homedir()}/.docker`;
  const sockets = [
    '/var/run/docker.sock',
    `${runtime}/docker.sock`,
    `${home}/run/docker.sock`,
    `${home}/desktop/docker.sock`,
  ];
  const socketPath = sockets.find((path) => existsSync(path));
  return socketPath === undefined ? undefined : { socketPath };
}

/** Whether a Docker engine answers. Cheap, so that Testcontainers (a second to load) is loaded only where it is of use. */
export function dockerEngineAnswers(env: NodeJS.ProcessEnv): Promise<boolean> {
  const address = engineAddress(env);
  if (address === undefined || address === 'trust') return Promise.resolve(address === 'trust');
  return new Promise((resolve) => {
    const ping = request({ ...address, path: '/_ping', timeout: PING_LIMIT_MS, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once('error', () => resolve(false));
    ping.once('timeout', () => ping.destroy(new Error('no answer in time')));
    ping.end();
  });
}
