import { join } from 'node:path';
import { closed, type BackendServer, type WayOutcome } from './backend-server.js';
import { foldersWith } from './find-programs.js';
import { launchRedis, type RedisProgram } from './redis-server.js';
import { runCommand } from './run-command.js';

const USUAL_PLACES = ['/usr/local/bin', '/opt/homebrew/bin', '/opt/redis/bin', '/opt/local/bin'];
/** The oldest that BullMQ recommends. */
const LOWEST_VERSION = 6.2;
const VERSION_LIMIT_MS = 5_000;

/** Asks the program for its version, which also shows that it runs here; undefined if it does not or is too old. */
export async function inspectRedis(
  command: string,
  libraryPath: string | undefined,
): Promise<RedisProgram | undefined> {
  const env = { PATH: process.env['PATH'], LD_LIBRARY_PATH: libraryPath };
  const said = await runCommand(command, ['--version'], { env, cwd: '/', timeoutMs: VERSION_LIMIT_MS }).catch(() => '');
  const version = /v=(\S+)/.exec(said)?.[1];
  return version !== undefined && Number.parseFloat(version) >= LOWEST_VERSION
    ? { command, version, libraryPath }
    : undefined;
}

/** A private Redis from the program that is installed on this machine. */
export async function redisOfThisMachine(env: NodeJS.ProcessEnv, durable: boolean): Promise<WayOutcome<BackendServer>> {
  for (const folder of await foldersWith(['redis-server'], env['PATH'], USUAL_PLACES)) {
    const program = await inspectRedis(join(folder, 'redis-server'), undefined);
    if (program !== undefined) return { open: true, found: await launchRedis(program, durable) };
  }
  return closed(`no redis-server ${LOWEST_VERSION} or newer`);
}
