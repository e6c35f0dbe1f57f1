import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PRIVATE_NETWORKS = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16';
const BASE_IMAGES = ['node:22-slim', 'postgres:17-alpine', 'redis:8-alpine'];
const ENGINE_LIMIT_MS = 10_000;
const execute = promisify(execFile);

async function docker(
  args: readonly string[],
  more: { env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<string> {
  const { stdout } = await execute('docker', args, { cwd: ROOT, maxBuffer: 2 ** 26, ...more });
  return stdout.trim();
}

function succeeds(args: readonly string[], timeout: number): Promise<boolean> {
  return docker(args, { timeout }).then(
    () => true,
    () => false,
  );
}

/**
 * Why the story can't be told on this machine, or undefined where it can: a `docker` command with Compose v2, an engine
 * that answers, and base images that it has or can fetch.
 */
export async function whatIsMissing(): Promise<string | undefined> {
  if (!(await succeeds(['version'], ENGINE_LIMIT_MS))) return 'no container engine answers';
  if (!(await succeeds(['compose', 'version'], ENGINE_LIMIT_MS))) return 'no Docker Compose v2';
  for (const image of BASE_IMAGES) {
    if (await succeeds(['image', 'inspect', image], ENGINE_LIMIT_MS)) continue;
    if (!(await succeeds(['pull', '--quiet', image], 300_000))) return `the engine has no ${image} and can fetch none`;
  }
  return undefined;
}

/** The installation of docker-compose.yml under a name of its own, with a vendor beside it. */
export class ComposeProject {
  readonly adminToken = randomBytes(24).toString('base64url');
  readonly #name = `undolog-test-${randomBytes(4).toString('hex')}`;
  readonly #env: NodeJS.ProcessEnv = {
    ...process.env,
    UNDOLOG_ADMIN_TOKEN: this.adminToken,
    UNDOLOG_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    UNDOLOG_EGRESS_ALLOW: PRIVATE_NETWORKS,
  };

  compose(...args: string[]): Promise<string> {
    const files = ['docker-compose.yml', 'test/compose/docker-compose.yml'].flatMap((file) => ['-f', join(ROOT, file)]);
    return docker(['compose', '-p', this.#name, ...files, ...args], { env: this.#env });
  }

  /** Builds the image and resolves once everything is healthy; the logs come with the failure. */
  async up(): Promise<void> {
    try {
      await this.compose('up', '--build', '--detach', '--wait', '--wait-timeout', '180');
    } catch (error) {
      throw new Error(`not up: ${await this.compose('logs', '--no-color', '--tail', '30')}`, { cause: error });
    }
  }

  /** Removes everything but the image. */
  async down(): Promise<void> {
    await this.compose('down', '--volumes', '--remove-orphans', '--timeout', '1');
  }

  /** Where a service that listens on 8080 in its container is reached from here. */
  async url(service: string): Promise<string> {
    return `http://${await this.compose('port', service, '8080')}`;
  }

  /** The running containers of a service, each with its address inside the network. */
  async containers(service: string): Promise<{ id: string; address: string }[]> {
    const ids = (await this.compose('ps', '-q', service)).split('\n');
    const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
    return Promise.all(ids.map(async (id) => ({ id, address: await docker(['inspect', '-f', format, id]) })));
  }

  async kill(containerId: string): Promise<void> {
    await docker(['kill', containerId]);
  }

  async exitCode(containerId: string): Promise<number> {
    return Number(await docker(['inspect', '-f', '{{.State.ExitCode}}', containerId]));
  }
}
