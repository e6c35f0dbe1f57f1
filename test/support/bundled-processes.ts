import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Whatever was built before: what a test starts is what the sources say now. */
export async function setup(): Promise<void> {
  const cwd = fileURLToPath(new URL('../../', import.meta.url));
  await promisify(execFile)(process.execPath, ['scripts/bundle.mjs'], { cwd });
}
