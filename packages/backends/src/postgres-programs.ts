import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { accountForPostgres, canReach, type Account } from './account.js';
import { closed, type BackendServer, type WayOutcome } from './backend-server.js';
import { foldersWith } from './find-programs.js';
import { ownFolder } from './owned-folder.js';
import { launchPostgres, type PostgresPrograms } from './postgres-server.js';
import { runCommand } from './run-command.js';

/** Most packages keep the server's programs out of PATH. */
const USUAL_PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/usr/local/pgsql/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
];
/** The oldest that UndoLog is tested with. */
const LOWEST_MAJOR = 15;
const VERSION_LIMIT_MS = 5_000;

/** `postgres (PostgreSQL) 15.16 (Debian …)` → `15.16`. Running it also shows that this account may run it. */
export async function versionOf(bin: string, account: Account | undefined): Promise<string> {
  const said = await runCommand(join(bin, 'postgres'), ['--version'], {
    account,
    cwd: '/',
    timeoutMs: VERSION_LIMIT_MS,
  });
  return /\d[\w.]*/.exec(said)?.[0] ?? 'of an unknown version';
}

async function inspect(bin: string, account: Account | undefined): Promise<PostgresPrograms | undefined> {
  try {
    // A link in PATH leads to programs that look for their own libraries beside them.
    const real = dirname(await realpath(join(bin, 'initdb')));
    if (!(await canReach(join(real, 'initdb'), account))) return undefined;
    const version = await versionOf(real, account);
    return Number.parseInt(version, 10) >= LOWEST_MAJOR ? { bin: real, version, account } : undefined;
  } catch {
    return undefined;
  }
}

/** A private Postgres from programs that are installed on this machine. */
export async function postgresOfThisMachine(
  env: NodeJS.ProcessEnv,
  durable: boolean,
): Promise<WayOutcome<BackendServer>> {
  const account = await accountForPostgres();
  for (const bin of await foldersWith(['initdb', 'postgres'], env['PATH'], USUAL_PLACES)) {
    const programs = await inspect(bin, account);
    if (programs === undefined) continue;
    return { open: true, found: await launchPostgres(programs, await ownFolder('postgres', account), durable) };
  }
  return closed(`no Postgres ${LOWEST_MAJOR} or newer`);
}
