import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptPackages } from './apt-packages.js';
import { closed, type BackendServer, type WayOutcome } from './backend-server.js';
import { foldersWith } from './find-programs.js';
import { inspectRedis } from './redis-programs.js';
import { launchRedis, type RedisProgram } from './redis-server.js';

/** Each layer adds the libraries that the one before depends on; a bare image needs two. */
const MAX_LAYERS = 4;
/** The C library can't be exchanged under a program that the system's own loader starts. */
const NEVER_UNPACK = new Set(['libc6', 'libcrypt1']);

/** `.cache` of the checkout, or the user's own where that is not ours to write. */
function cachePlaces(env: NodeJS.ProcessEnv): string[] {
  const project = fileURLToPath(new URL('../../../.cache', import.meta.url));
  return [project, join(env['XDG_CACHE_HOME'] ?? join(env['HOME'] ?? homedir(), '.cache'), 'undolog')];
}

async function programBelow(root: string): Promise<RedisProgram | undefined> {
  const files = await readdir(root, { recursive: true }).catch(() => []);
  const libraries = files.filter((file) => /\.so(\.\d+)*$/.test(file)).map((file) => join(root, dirname(file)));
  return inspectRedis(join(root, 'usr/bin/redis-server'), [...new Set(libraries)].join(':'));
}

/** Adds packages below `root` until the program runs; undefined if it never does. */
async function fill(folder: string, root: string, env: NodeJS.ProcessEnv): Promise<RedisProgram | undefined> {
  const apt = aptPackages(folder, root, env);
  const unpacked = new Set<string>();
  let wanted = ['redis-server', 'redis-tools'];
  for (let layer = 0; layer < MAX_LAYERS && wanted.length > 0; layer += 1) {
    for (const name of wanted) unpacked.add(name);
    const depends = await apt.unpack(wanted);
    const program = await programBelow(root);
    if (program !== undefined) return program;
    const libraries = depends.filter((name) => /^(lib|lua)/.test(name) && !NEVER_UNPACK.has(name));
    wanted = [...new Set(libraries)].filter((name) => !unpacked.has(name));
  }
  return undefined;
}

/** Fills a folder beside the final one and moves it there in one step: another process may do the same right now. */
async function fetchInto(place: string, final: string, env: NodeJS.ProcessEnv): Promise<RedisProgram | undefined> {
  await mkdir(place, { recursive: true });
  const folder = await mkdtemp(join(place, 'redis-new-'));
  try {
    const root = join(folder, 'root');
    if ((await fill(folder, root, env)) === undefined) return undefined;
    // What is in the way is either whole, and another process was faster, or broken.
    if ((await programBelow(final)) === undefined) {
      await rm(final, { recursive: true, force: true });
      await rename(root, final);
    }
    return await programBelow(final);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A private Redis from the packages of Debian or Ubuntu, fetched and unpacked into a cache and never installed. */
export async function redisFromPackages(env: NodeJS.ProcessEnv, durable: boolean): Promise<WayOutcome<BackendServer>> {
  if ((await foldersWith(['apt-get'], env['PATH'], [])).length === 0)
    return closed('only Debian and Ubuntu have apt-get');
  if ((await foldersWith(['dpkg-deb'], env['PATH'], [])).length === 0) return closed('no dpkg-deb');
  const reasons: string[] = [];
  for (const place of cachePlaces(env)) {
    const final = join(place, `redis-${process.arch}`);
    try {
      const program = (await programBelow(final)) ?? (await fetchInto(place, final, env));
      if (program !== undefined) return { open: true, found: await launchRedis(program, durable) };
      reasons.push('the unpacked program does not run');
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  return closed(reasons.join('; '));
}
