import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Longer than the 25 s within which the product promises to end after SIGTERM. */
const STOP_WITHIN_MS = 27_000;
const LOG_TAIL_BYTES = 2000;

export interface ChildStart {
  readonly name: string;
  /** Node's arguments: its own options, the script, the script's options. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly logDirectory: string;
}

/** A Node process that the bench started, and that the bench alone ends, through its handle. Its output goes to a log. */
export class Child {
  readonly #name: string;
  readonly #logFile: string;
  readonly #process: ChildProcess;

  constructor({ name, args, env, logDirectory }: ChildStart) {
    this.#name = name;
    this.#logFile = join(logDirectory, `${name}.log`);
    const log = openSync(this.#logFile, 'a');
    this.#process = spawn(process.execPath, args, { cwd: PROJECT_ROOT, env, stdio: ['ignore', log, log] });
    closeSync(log);
    this.#process.once('error', () => undefined);
  }

  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null || this.#process.pid === undefined;
  }

  /** Waits for its end; returns what it said. @throws with the end of its log unless it ended well. */
  async output(): Promise<string> {
    if (!this.ended) await once(this.#process, 'exit');
    if (this.#process.exitCode !== 0) throw this.failure(`ended with ${this.#process.exitCode ?? 'a signal'}`);
    return readFileSync(this.#logFile, 'utf8');
  }

  /** SIGTERM, and SIGKILL when it takes longer than it may. */
  async stop(): Promise<void> {
    if (this.ended) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const late = setTimeout(() => this.#process.kill('SIGKILL'), STOP_WITHIN_MS);
    await exited;
    clearTimeout(late);
  }

  failure(what: string): Error {
    return new Error(`${this.#name} ${what}\n${readFileSync(this.#logFile, 'utf8').slice(-LOG_TAIL_BYTES)}`);
  }
}

/**
 * Node's arguments for a TypeScript file of the bench, run like this very process. A flag with its value goes along, but
 * for what would make a child write into the profile of its parent.
 */
export function nodeArgsFor(file: string): string[] {
  return [...process.execArgv.filter((arg) => !arg.startsWith('--cpu-prof')), file];
}
