import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.js';

const DOWNLOAD_LIMIT_MS = 60_000;
const UPDATE_LIMIT_MS = 90_000;

/** Fetches packages of Debian and Ubuntu without installing them; needs no rights. */
export interface AptPackages {
  /** Downloads and unpacks the packages below `root`; answers the names of those they depend on. */
  unpack(names: readonly string[]): Promise<string[]>;
}

/** `libssl3 (>= 3.0.0), libsystemd0 | libelogind0` → `libssl3`, `libsystemd0`. */
function namesIn(depends: string): string[] {
  return depends.split(',').flatMap((one) => /^[a-z0-9][a-z0-9+.-]+/.exec(one.trim())?.[0] ?? []);
}

/**
 * `folder` is the caller's own and holds the downloads; what is unpacked goes below `root`. Where the machine's package
 * lists are missing or outdated, private ones are fetched into the folder, and the machine's stay as they are.
 */
export function aptPackages(folder: string, root: string, env: NodeJS.ProcessEnv): AptPackages {
  const privateState = join(folder, 'apt');
  const options = [
    ['Dir::State::lists', join(privateState, 'lists')],
    ['Dir::Cache', join(privateState, 'cache')],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  let extra: string[] = [];

  async function apt(args: readonly string[], timeoutMs: number): Promise<void> {
    await runCommand('apt-get', ['-q', ...extra, ...args], { cwd: join(folder, 'debs'), env, timeoutMs });
  }
  async function download(names: readonly string[]): Promise<void> {
    try {
      await apt(['download', ...names], DOWNLOAD_LIMIT_MS);
    } catch (error) {
      if (extra.length > 0) throw error;
      await mkdir(join(privateState, 'lists', 'partial'), { recursive: true });
      await mkdir(join(privateState, 'cache', 'archives', 'partial'), { recursive: true });
      extra = options;
      await apt(['update'], UPDATE_LIMIT_MS);
      await apt(['download', ...names], DOWNLOAD_LIMIT_MS);
    }
  }
  return {
    async unpack(names) {
      const debs = join(folder, 'debs');
      await mkdir(debs, { recursive: true });
      const before = new Set(await readdir(debs));
      await download(names);
      const fresh = (await readdir(debs)).filter((name) => name.endsWith('.deb') && !before.has(name));
      const depends: string[] = [];
      for (const name of fresh) {
        const limits = { cwd: debs, env, timeoutMs: DOWNLOAD_LIMIT_MS };
        await runCommand('dpkg-deb', ['-x', name, root], limits);
        depends.push(...namesIn(await runCommand('dpkg-deb', ['-f', name, 'Depends'], limits)));
      }
      return depends;
    },
  };
}
