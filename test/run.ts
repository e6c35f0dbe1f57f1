/**
 * `npm test [-- vitest's own arguments]`: builds, finds or starts Postgres and Redis once for all, runs every project,
 * stops what it started, and says last, in one plain line, how it went.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resolveBackends } from '@undolog/backends/resolve';
import { type TestCounts, verdictLine } from './support/test-counts.js';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NOTHING_RAN: TestCounts = { passed: 0, failed: 1, skipped: 0 };
const locate = createRequire(import.meta.url);
const program = (name: string, path: string): string => join(dirname(locate.resolve(`${name}/package.json`)), path);

interface Ended {
  readonly code: number;
  readonly counts: TestCounts | undefined;
}

/** Runs a Node program of ours to its end. A Ctrl-C or a SIGTERM goes on to it and is not ours to die of. */
function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let counts: TestCounts | undefined;
    const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as const;
    const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, env, stdio: [...stdio] });
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.on('message', (message) => (counts = message as TestCounts));
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve({ code: code ?? 1, counts });
    });
  });
}

async function test(vitestArguments: readonly string[]): Promise<Ended> {
  // What the tests start, they bundle themselves.
  const checked = await run(program('typescript', 'bin/tsc'), ['-b'], process.env);
  if (checked.code !== 0) return { code: checked.code, counts: NOTHING_RAN };
  const backends = await resolveBackends({ env: process.env, log: (line) => console.log(line) });
  try {
    const env: NodeJS.ProcessEnv = { ...process.env, DATABASE_URL: backends.databaseUrl };
    if (backends.redisUrl === undefined) delete env['REDIS_URL'];
    else env['REDIS_URL'] = backends.redisUrl;
    return await run(program('vitest', 'vitest.mjs'), ['run', ...vitestArguments], env);
  } finally {
    await backends.stop();
  }
}

const { code, counts: counted = NOTHING_RAN } = await test(process.argv.slice(2)).catch((error: unknown): Ended => {
  console.error(error);
  return { code: 1, counts: NOTHING_RAN };
});
// The line and the exit code must agree, also where Vitest broke off after the last test.
const counts = code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted;
console.log(verdictLine(counts));
process.exitCode = code !== 0 ? code : Math.min(counts.failed, 1);
