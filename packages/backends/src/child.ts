import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROJECT_ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Longer than the 25 s within which the processes promise to end after SIGTERM. */
const STOP_DEADLINE_MS = 27_000;
const LOG_TAIL_BYTES = 2000;
const READY_WITHIN_MS = 30_000;
const READY_POLL_MS = 50;

export interface ChildOptions {
  readonly name: string;
  /** Node's arguments: its own options, the script, the script's options. */
  readonly args: readonly string[];
  /** The whole environment; nothing is inherited beside it. */
  readonly env: NodeJS.ProcessEnv;
  readonly logDirectory: string;
  /** Whether its output is for its owner to read (`firstLine`); otherwise it goes to the log. */
  readonly speaks?: boolean;
}

/** A Node process of the project's, which its owner alone ends, through its handle. What it says goes to a log file. */
export class Child {
  readonly name: string;
  readonly logFile: string;
  readonly #process: ChildProcess;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.logFile = join(options.logDirectory, `${options.name}.log`);
    const log = openSync(this.logFile, 'a');
    this.#process = spawn(process.execPath, options.args, {
      cwd: PROJECT_ROOT,
      env: options.env,
      stdio: ['pipe', options.speaks === true ? 'pipe' : log, log],
    });
    closeSync(log);
    this.#process.once('error', () => {});
    this.#process.stdin?.once('error', () => {});
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Whether the process has ended, for whatever reason. */
  get ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null || this.#process.pid === undefined;
  }

  /** Sends one line to the process; its stdin stays open. */
  writeLine(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** The first line that the process prints; what it prints later is dropped. */
  async firstLine(timeoutMs: number): Promise<string> {
    const output = this.#process.stdout;
    if (output === null) throw new Error(`${this.name} has no output`);
    const lines = createInterface({ input: output });
    try {
      const [line] = (await Promise.race([
        once(lines, 'line', { signal: AbortSignal.timeout(timeoutMs) }),
        once(lines, 'close').then(() => Promise.reject(this.failure('ended before it said anything'))),
      ])) as [string];
      return line;
    } finally {
      lines.close();
      output.resume();
    }
  }

  /** Waits for its end; returns what its log says. @throws with the end of the log unless it ended well. */
  async output(): Promise<string> {
    if (!this.ended) await once(this.#process, 'exit');
    if (this.#process.exitCode !== 0) throw this.failure(`ended with ${this.#process.exitCode ?? 'a signal'}`);
    return readFileSync(this.logFile, 'utf8');
  }

  /** Asks the URL until it answers 200. @throws with the end of the log if the process ends or takes too long. */
  async untilReady(url: string): Promise<void> {
    const limit = AbortSignal.timeout(READY_WITHIN_MS);
    while (!limit.aborted) {
      if (this.ended) throw this.failure('ended while starting');
      const answer = await fetch(url, { signal: limit }).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.status === 200) return;
      await sleep(READY_POLL_MS);
    }
    throw this.failure(`was not ready within ${READY_WITHIN_MS} ms`);
  }

  /** SIGTERM, and SIGKILL when the process takes longer than it may. */
  async stop(): Promise<void> {
    if (this.ended) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), STOP_DEADLINE_MS);
    await exited;
    clearTimeout(timer);
  }

  /** An error that says what happened and shows the end of the log. */
  failure(what: string): Error {
    const tail = readFileSync(this.logFile, 'utf8').slice(-LOG_TAIL_BYTES);
    return new Error(`${this.name} ${what}\n${tail}`);
  }
}
