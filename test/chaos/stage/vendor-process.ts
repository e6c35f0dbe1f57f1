import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { freePort } from '@undolog/backends/free-port';

const SCRIPT = fileURLToPath(new URL('../vendor/vendor-main.ts', import.meta.url));

/** The vendor's process. It ends with its standard input, so it never outlives us. */
export class VendorProcess {
  readonly url: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  /** A call came whose caller is to die of it. */
  onDeadly: () => void = () => undefined;

  private constructor(port: number, logFile: string) {
    this.url = `http://127.0.0.1:${port}`;
    const args = [...process.execArgv, SCRIPT, String(port), logFile];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdin.on('error', () => undefined);
  }

  static async start(logFile: string): Promise<VendorProcess> {
    const vendor = new VendorProcess(await freePort(), logFile);
    const lines = createInterface({ input: vendor.#child.stdout });
    await Promise.race([
      once(lines, 'line'),
      once(vendor.#child, 'exit').then(() => Promise.reject(new Error('the vendor did not start'))),
    ]);
    lines.on('line', () => vendor.onDeadly());
    return vendor;
  }

  hang(org: string, ms: number): void {
    this.#child.stdin.write(`hang ${org} ${ms}\n`);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exit;
  }
}
