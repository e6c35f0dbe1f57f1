import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Edit } from './plants.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** What the two processes are made of. */
const PARTS = ['packages/shared', 'packages/dashboard', 'services/api', 'services/compensator'] as const;

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

async function linkAll(from: string, to: string, except: readonly string[] = []): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    if (!except.includes(name)) await symlink(join(from, name), join(to, name));
  }
}

/** A copy of the built product with its bug, in a folder of its own. */
export async function plantedBuild(edits: readonly Edit[]): Promise<{ root: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'undolog-planted-'));
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    await linkAll(join(ROOT, 'node_modules'), join(root, 'node_modules'), ['@undolog']);
    for (const part of PARTS) {
      const [from, to] = [join(ROOT, part), join(root, part)];
      await cp(join(from, 'dist'), join(to, 'dist'), { recursive: true });
      await cp(join(from, 'package.json'), join(to, 'package.json'));
      const own = join(from, 'node_modules');
      await symlink(own, join(to, 'node_modules'));
      const link = join(root, 'node_modules/@undolog', part.split('/')[1]!);
      await mkdir(dirname(link), { recursive: true });
      await symlink(to, link);
    }
    for (const one of edits) await edit(root, one);
    return { root, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
