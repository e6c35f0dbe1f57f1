import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Edit } from './plants.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** What the processes are made of. */
const PARTS = ['packages/shared', 'packages/client', 'services/api', 'services/compensator', 'migrations'] as const;
/** What they show, as it is. */
const PAGE = 'packages/dashboard/dist';

/** @throws unless the text stands in the file exactly once: a plant that misses its place would prove nothing. */
async function edit(root: string, { file, search, replace }: Edit): Promise<void> {
  const path = join(root, file);
  const text = await readFile(path, 'utf8');
  const places = text.split(search).length - 1;
  if (places !== 1) throw new Error(`${file} has ${places} places that read: ${search}`);
  await writeFile(
    path,
    text.replace(search, () => replace),
  );
}

async function link(root: string, path: string, to = join(ROOT, path)): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await symlink(to, join(root, path));
}

/** A copy of the product with its bug, bundled, in a folder of its own. */
export async function plantedBuild(edits: readonly Edit[]): Promise<{ root: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'undolog-planted-'));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    const packages = await readdir(join(ROOT, 'node_modules'));
    for (const name of packages.filter((other) => other !== '@undolog')) await link(root, join('node_modules', name));
    for (const part of PARTS) {
      for (const name of ['src', 'package.json'])
        await cp(join(ROOT, part, name), join(root, part, name), { recursive: true });
      await link(root, join(part, 'node_modules'));
      await link(root, join('node_modules/@undolog', basename(part)), join(root, part));
    }
    await link(root, PAGE);
    await cp(join(ROOT, 'scripts/bundle.mjs'), join(root, 'scripts/bundle.mjs'));
    for (const one of edits) await edit(root, one);
    await promisify(execFile)(process.execPath, ['scripts/bundle.mjs'], { cwd: root });
    return { root, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
