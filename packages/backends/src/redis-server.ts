import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendServer } from './backend-server.js';
import { freePort } from './free-port.js';
import { ownFolder, type OwnedFolder } from './owned-folder.js';
import { startProgram, waitUntilReady, type OwnedProcess } from './owned-process.js';
import { redisAnswers } from './redis-answers.js';

const PORT_TRIES = 5;
const RESTART_TRIES = 20;
const RESTART_PAUSE_MS = 100;

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

class PrivateRedis implements BackendServer {
  readonly description: string;
  port = 0;
  private readonly password = randomBytes(16).toString('hex');
  private readonly program: RedisProgram;
  private readonly folder: OwnedFolder;
  private readonly durable: boolean;
  private process: OwnedProcess | undefined;

  constructor(program: RedisProgram, folder: OwnedFolder, durable: boolean) {
    this.program = program;
    this.folder = folder;
    this.durable = durable;
    this.description = `Redis ${program.version} of ${program.command}`;
  }

  get url(): string {
    return `redis://:${this.password}@127.0.0.1:${this.port}`;
  }

  /** The first start; a port that someone else took in between is exchanged. */
  async create(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.port = await freePort();
      if (await this.launch()) return;
      if (tries === PORT_TRIES) throw await this.lastWords();
    }
  }

  async start(): Promise<void> {
    for (let tries = 1; !(await this.launch()); tries += 1) {
      if (tries === RESTART_TRIES) throw await this.lastWords();
      await sleep(RESTART_PAUSE_MS);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.process?.stop(signal);
  }

  async remove(): Promise<void> {
    await this.process?.stop('SIGKILL');
    await this.folder.remove();
  }

  private async launch(): Promise<boolean> {
    const { program, folder } = this;
    const place: [string, string][] = [
      ['port', String(this.port)],
      ['bind', '127.0.0.1'],
      ['dir', folder.path],
      ['requirepass', this.password],
    ];
    const lines = [...place, ...redisSettings(this.durable)].map(([name, value]) => `${name} ${value}\n`);
    this.process = await startProgram({
      command: program.command,
      args: ['-'],
      env: { PATH: process.env['PATH'], LC_ALL: 'C', LD_LIBRARY_PATH: program.libraryPath },
      account: undefined,
      folder,
      guardSignal: 'TERM',
      input: lines.join(''),
    });
    const readiness = await waitUntilReady(this.process, () => redisAnswers(this.url));
    if (readiness === 'too_late') await this.process.stop('SIGKILL');
    return readiness === 'ready';
  }

  private async lastWords(): Promise<Error> {
    return new Error(`Redis did not start: ${((await this.process?.readLog()) ?? '').trim().split('\n').at(-1)}`);
  }
}

/** Starts a private Redis: on 127.0.0.1 only, with a random password. Rejects with its last words if it does not come up. */
export async function launchRedis(program: RedisProgram, durable: boolean): Promise<BackendServer> {
  const server = new PrivateRedis(program, await ownFolder('redis'), durable);
  try {
    await server.create();
    return server;
  } catch (error) {
    await server.remove();
    throw error;
  }
}
