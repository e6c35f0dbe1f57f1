import { constants } from 'node:fs';
import { access, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

async function holdsAll(folder: string, programs: readonly string[]): Promise<boolean> {
  try {
    await Promise.all(programs.map((program) => access(join(folder, program), constants.X_OK)));
    return true;
  } catch {
    return false;
  }
}

/** Replaces the one `*` that a pattern may have by what is there, the highest version first. */
async function expand(pattern: string): Promise<string[]> {
  const [before, after] = pattern.split('*');
  if (before === undefined || after === undefined) return [pattern];
  const parent = before.slice(0, before.lastIndexOf('/') + 1);
  const names = await readdir(parent).catch(() => []);
  const matching = names.map((name) => parent + name).filter((path) => path.startsWith(before));
  matching.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return matching.map((path) => path + after);
}

/** The folders that hold every one of the programs: those of PATH first, then those of `usualPlaces`. */
export async function foldersWith(
  programs: readonly string[],
  path: string | undefined,
  usualPlaces: readonly string[],
): Promise<string[]> {
  const usual = (await Promise.all(usualPlaces.map(expand))).flat();
  const folders = [...new Set([...(path ?? '').split(delimiter).filter((folder) => folder !== ''), ...usual])];
  const holding = await Promise.all(folders.map((folder) => holdsAll(folder, programs)));
  return folders.filter((_, index) => holding[index]);
}
