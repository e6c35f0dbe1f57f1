import { randomBytes } from 'node:crypto';
import type { BackendServer } from './backend-server.js';
import { ownFolder } from './owned-folder.js';
import { launchServer } from './private-server.js';
import { redisAnswers } from './redis-answers.js';

export interface RedisProgram {
  readonly command: string;
  readonly version: string;
  /** For a program that is not installed and has its libraries beside it. */
  readonly libraryPath: string | undefined;
}

/**
 * What every Redis that we start runs with. The append-only file carries its data over a restart: written before each
 * answer, it survives a kill of Redis as it is, and a crash of the machine (but for a second) where it is synced.
 */
export function redisSettings(durable: boolean): [name: string, value: string][] {
  return [
    ['save', '""'],
    ['appendonly', 'yes'],
    ['appendfsync', durable ? 'everysec' : 'no'],
    // BullMQ loses jobs under any other.
    ['maxmemory-policy', 'noeviction'],
  ];
}

/** Starts a private Redis: on 127.0.0.1 only, with a random password. Rejects with its last words if it does not come up. */
export async function launchRedis(program: RedisProgram, durable: boolean): Promise<BackendServer> {
  const folder = await ownFolder('redis');
  const password = randomBytes(16).toString('hex');
  const urlAt = (port: number): string => `redis://:${password}@127.0.0.1:${port}`;
  return launchServer({
    description: `Redis ${program.version} of ${program.command}`,
    folder,
    stopSignal: 'SIGTERM',
    dropSignal: 'SIGKILL',
    urlAt,
    programAt(port) {
      const place: [string, string][] = [
        ['port', String(port)],
        ['bind', '127.0.0.1'],
        ['dir', folder.path],
        ['requirepass', password],
      ];
      const lines = [...place, ...redisSettings(durable)].map(([name, value]) => `${name} ${value}\n`);
      return {
        command: program.command,
        args: ['-'],
        env: { PATH: process.env['PATH'], LC_ALL: 'C', LD_LIBRARY_PATH: program.libraryPath },
        account: undefined,
        guardSignal: 'TERM',
        input: lines.join(''),
      };
    },
    answersAt: (port) => redisAnswers(urlAt(port)),
    lastWord: (lines) => lines.at(-1),
  });
}
