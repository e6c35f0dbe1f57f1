import { randomBytes } from 'node:crypto';
import { chown, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './account.js';
import type { BackendServer } from './backend-server.js';
import { createDatabase, postgresAnswers } from './fresh-database.js';
import type { OwnedFolder } from './owned-folder.js';
import { launchServer, type ServerRecipe } from './private-server.js';
import { runCommand } from './run-command.js';

const INITDB_LIMIT_MS = 60_000;

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

/**
 * Makes a private Postgres in the folder, which it then owns: on 127.0.0.1 only, with a random password and a database
 * named `undolog`. Rejects with the server's last words if it does not come up, and has then removed the folder.
 */
export async function launchPostgres(
  programs: PostgresPrograms,
  folder: OwnedFolder,
  durable: boolean,
): Promise<BackendServer> {
  const { account, bin, version } = programs;
  const password = randomBytes(16).toString('hex');
  const urlOf = (port: number, database: string): string =>
    `postgres://undolog:${password}@127.0.0.1:${port}/${database}`;
  await initialise(programs, folder, password).catch(async (error: unknown) => {
    await folder.remove();
    throw error;
  });
  const recipe: ServerRecipe = {
    description: `Postgres ${version} of ${bin}`,
    folder,
    stopSignal: 'SIGINT',
    dropSignal: 'SIGQUIT',
    urlAt: (port) => urlOf(port, 'undolog'),
    programAt(port) {
      const place = ['-D', dataOf(folder), '-p', String(port), '-c', 'listen_addresses=127.0.0.1'];
      return {
        command: join(bin, 'postgres'),
        args: [...place, '-c', 'unix_socket_directories=', ...postgresSettings(durable)],
        env: environmentOf(folder),
        account,
        guardSignal: 'QUIT',
      };
    },
    answersAt: (port) => postgresAnswers(urlOf(port, 'postgres')),
    lastWord: (lines) => lines.findLast((line) => line.includes('FATAL')) ?? lines.at(-1),
  };
  return launchServer(recipe, (port) => createDatabase(urlOf(port, 'postgres'), 'undolog'));
}
