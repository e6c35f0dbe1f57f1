import { randomBytes } from 'node:crypto';
import { chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account.js';
import type { BackendServer } from './backend-server.js';
import { freePort } from './free-port.js';
import { createDatabase, postgresAnswers } from './fresh-database.js';
import type { OwnedFolder } from './owned-folder.js';
import { startProgram, waitUntilReady, type OwnedProcess } from './owned-process.js';
import { runCommand } from './run-command.js';

const INITDB_LIMIT_MS = 60_000;
const PORT_TRIES = 5;
/** A killed Postgres' children need a moment to notice; until then its data can't be opened again. */
const RESTART_TRIES = 40;
const RESTART_PAUSE_MS = 250;

export interface PostgresPrograms {
  /** The folder with `initdb` and `postgres`. */
  readonly bin: string;
  readonly version: string;
  readonly account: Account | undefined;
}

/** What every Postgres that we start runs with, whichever way it came. */
export function postgresSettings(durable: boolean): string[] {
  const onOff = durable ? 'on' : 'off';
  const settings = ['max_connections=200', `fsync=${onOff}`, `full_page_writes=${onOff}`];
  return settings.flatMap((setting) => ['-c', setting]);
}

/** Only what Postgres needs: a PGPORT or PGDATA of the user's must not leak in. */
function environmentOf(folder: OwnedFolder): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: folder.path, LC_ALL: 'C', TZ: 'UTC' };
}

function dataOf(folder: OwnedFolder): string {
  return join(folder.path, 'data');
}

async function initialise(programs: PostgresPrograms, folder: OwnedFolder, password: string): Promise<void> {
  const { bin, account } = programs;
  const passwordFile = join(folder.path, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);
  const identity = ['--username=undolog', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  const args = [`--pgdata=${dataOf(folder)}`, ...identity, '--encoding=UTF8', '--locale=C', '--no-sync'];
  const env = environmentOf(folder);
  await runCommand(join(bin, 'initdb'), args, { cwd: folder.path, env, account, timeoutMs: INITDB_LIMIT_MS });
  await rm(passwordFile);
}

class PrivatePostgres implements BackendServer {
  readonly description: string;
  port = 0;
  private readonly password = randomBytes(16).toString('hex');
  private readonly programs: PostgresPrograms;
  private readonly folder: OwnedFolder;
  private readonly settings: string[];
  private process: OwnedProcess | undefined;

  constructor(programs: PostgresPrograms, folder: OwnedFolder, durable: boolean) {
    this.programs = programs;
    this.folder = folder;
    this.settings = postgresSettings(durable);
    this.description = `Postgres ${programs.version} of ${programs.bin}`;
  }

  get url(): string {
    return this.urlOf('undolog');
  }

  private urlOf(database: string): string {
    return `postgres://undolog:${this.password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Makes the data folder and the first start; a port that someone else took in between is exchanged. */
  async create(): Promise<void> {
    await initialise(this.programs, this.folder, this.password);
    for (let tries = 1; ; tries += 1) {
      this.port = await freePort();
      if (await this.launch()) break;
      if (tries === PORT_TRIES) throw await this.lastWords();
    }
    await createDatabase(this.urlOf('postgres'), 'undolog');
  }

  async start(): Promise<void> {
    for (let tries = 1; !(await this.launch()); tries += 1) {
      if (tries === RESTART_TRIES) throw await this.lastWords();
      await sleep(RESTART_PAUSE_MS);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    await this.process?.stop(signal);
  }

  async remove(): Promise<void> {
    // Nobody reads this data again, so it need not be written out.
    await this.process?.stop('SIGQUIT');
    await this.folder.remove();
  }

  private async launch(): Promise<boolean> {
    const { folder, programs } = this;
    const place = ['-D', dataOf(folder), '-p', String(this.port), '-c', 'listen_addresses=127.0.0.1'];
    this.process = await startProgram({
      command: join(programs.bin, 'postgres'),
      args: [...place, '-c', 'unix_socket_directories=', ...this.settings],
      env: environmentOf(folder),
      account: programs.account,
      folder,
      guardSignal: 'QUIT',
    });
    const readiness = await waitUntilReady(this.process, () => postgresAnswers(this.urlOf('postgres')));
    if (readiness === 'too_late') await this.process.stop('SIGQUIT');
    return readiness === 'ready';
  }

  private async lastWords(): Promise<Error> {
    const lines = ((await this.process?.readLog()) ?? '').trim().split('\n');
    return new Error(`Postgres did not start: ${lines.findLast((line) => line.includes('FATAL')) ?? lines.at(-1)}`);
  }
}

/**
 * Makes a private Postgres in the folder, which it then owns: on 127.0.0.1 only, with a random password and a database
 * named `undolog`. Rejects with the server's last words if it does not come up, and has then removed the folder.
 */
export async function launchPostgres(
  programs: PostgresPrograms,
  folder: OwnedFolder,
  durable: boolean,
): Promise<BackendServer> {
  const server = new PrivatePostgres(programs, folder, durable);
  try {
    await server.create();
    return server;
  } catch (error) {
    await server.remove();
    throw error;
  }
}
