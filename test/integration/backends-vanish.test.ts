import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { bare, listens } from '../support/look-at-backends.js';

async function foldersIn(place: string): Promise<string[]> {
  return (await readdir(place)).filter((name) => name.startsWith('undolog-'));
}

describe('what a process started', () => {
  const script = fileURLToPath(new URL('../support/backends-owner.ts', import.meta.url));
  const endings = ['return', 'exit', 'throw', 'SIGINT', 'SIGTERM', 'SIGKILL'];

  test.concurrent.each(endings)('vanishes when that process ends by %s', { timeout: 60_000 }, async (ending) => {
    const place = await mkdtemp(join(tmpdir(), 'owner-'));
    const args = ['--conditions=@undolog/source', '--import', 'tsx', script, ending];
    // The server's account must be able to enter it, as it is with a usual /tmp.
    await chmod(place, 0o777);
    const owner = spawn(process.execPath, args, { env: bare({ TMPDIR: place }), stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => owner.once('exit', resolve));
    const line = await new Promise<string>((resolve) => owner.stdout.setEncoding('utf8').once('data', resolve));
    const ports = (JSON.parse(line) as (number | null)[]).filter((port) => port !== null);
    if (ending.startsWith('SIG')) {
      expect(await Promise.all(ports.map(listens))).not.toContain(false);
      owner.kill(ending as NodeJS.Signals);
    }
    await ended;
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await foldersIn(place)).length === 0) break;
      await sleep(50);
    }
    expect(await foldersIn(place)).toEqual([]);
    expect(await Promise.all(ports.map(listens))).not.toContain(true);
    await rm(place, { recursive: true });
  });
});
