import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { SIGNING_SECRET } from './signed-call.js';

const PROGRAM = fileURLToPath(new URL('receiver-vendor-main.ts', import.meta.url));
const START_LIMIT_MS = 20_000;

export interface ReceiverVendor {
  readonly url: string;
  /** Resolves when this many effects were made since its start. */
  effects(count: number): Promise<void>;
  /** Lets handlers that are held go on. */
  release(): void;
  kill(): Promise<void>;
}

export interface ReceiverVendorOptions {
  readonly databaseUrl: string;
  /** Every handler stops after its effect, before it answers, until `release`. */
  readonly hold?: boolean;
  readonly secret?: string;
}

/** Starts `receiver-vendor-main.ts` in a process of its own. */
export async function startReceiverVendor(options: ReceiverVendorOptions): Promise<ReceiverVendor> {
  const { databaseUrl, hold = false, secret = SIGNING_SECRET } = options;
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=@undolog/source', PROGRAM], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, SECRET: secret, ...(hold ? { HOLD: '1' } : {}) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const port = await vi.waitFor(
    () => {
      const line = lines.find((said) => said.startsWith('listening '));
      if (line === undefined) throw new Error(`the vendor did not come up (exit code ${child.exitCode})`);
      return line.slice('listening '.length);
    },
    { timeout: START_LIMIT_MS },
  );
  return {
    url: `http://127.0.0.1:${port}`,
    effects: (count) =>
      vi.waitFor(
        () => {
          if (lines.filter((line) => line === 'effect').length < count) throw new Error(`fewer than ${count} effects`);
        },
        { timeout: START_LIMIT_MS },
      ),
    release: () => void child.stdin.write('go\n'),
    async kill() {
      process.off('exit', killWithUs);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
