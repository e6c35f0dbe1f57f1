import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@undolog/backends/free-port';
import { monotonicMs } from '@undolog/shared/runtime/clock';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAMS = { api: 'services/api/dist/main.js', compensator: 'services/compensator/dist/main.js' } as const;

const START_LIMIT_MS = 30_000;
const POLL_MS = 50;
const PORT_TRIES = 3;

export const ADMIN_TOKEN = 'test-admin-token';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly afterMs: number;
}

export interface StartOptions {
  /** What start waits for: `/readyz` (default), or only a sign of life where a backend is away. */
  readonly until?: 'ready' | 'alive';
  /** For this start alone. */
  readonly env?: NodeJS.ProcessEnv;
}

// A test that is broken off must not leave processes behind.
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * One api or compensator as it is shipped: the built program in a process of its own.
 *
 * new → started → stopped | killed → started again, on the same ports; frozen ⇄ thawed in between.
 */
export class ProductProcess {
  readonly role: keyof typeof PROGRAMS;
  /** Every line that it has written, over all its starts. */
  readonly log: string[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #root: string;
  #child: ChildProcess | undefined;
  #port = 0;
  #healthPort = 0;
  #ending = false;
  /** How it died, if nobody asked it to. */
  died: string | undefined;

  /** @param root another copy of the built product. */
  constructor(role: keyof typeof PROGRAMS, env: NodeJS.ProcessEnv, root = ROOT) {
    this.role = role;
    this.#env = env;
    this.#root = root;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get healthUrl(): string {
    return `http://127.0.0.1:${this.#healthPort}`;
  }

  get alive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  async start(options: StartOptions = {}): Promise<this> {
    for (let tries = 1; ; tries++) {
      this.#port ||= await freePort();
      this.#healthPort ||= await freePort();
      const firstLine = this.log.length;
      this.#launch(options.env);
      if (await this.#comesUp(options.until ?? 'ready')) return this;
      const said = this.log.slice(firstLine);
      // Somebody was faster with the port.
      if (!said.some((line) => line.includes('EADDRINUSE')) || tries === PORT_TRIES) {
        await this.kill();
        throw new Error(`${this.role} did not come up:\n${this.lastWords()}`);
      }
      this.#port = 0;
      this.#healthPort = 0;
    }
  }

  /** SIGTERM, as an orchestrator does. Resolves when the process has ended by itself. */
  stop(): Promise<Exit> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<Exit> {
    return this.#end('SIGKILL');
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Resolves when the process that runs now has ended, however it did. */
  async ended(): Promise<void> {
    if (this.#child && this.alive) await once(this.#child, 'exit');
  }

  async readiness(): Promise<{ status: number; body: Record<string, unknown> }> {
    const answer = await fetch(`${this.healthUrl}/readyz`, { signal: AbortSignal.timeout(5000) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }

  /** Value of a metric, summed over its labels; with `labels`, text that must stand in the line. */
  async metric(name: string, labels = ''): Promise<number> {
    const text = await (await fetch(`${this.healthUrl}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
    return lines.filter((line) => line.includes(labels)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** The end of its log, short enough for a message. */
  lastWords(): string {
    return this.log
      .slice(-8)
      .map((line) => line.slice(0, 500))
      .join('\n');
  }

  #launch(more: NodeJS.ProcessEnv = {}): void {
    const env = { ...this.#env, ...more, PORT: String(this.#port), UNDOLOG_HEALTH_PORT: String(this.#healthPort) };
    const child = spawn(process.execPath, [PROGRAMS[this.role]], {
      cwd: this.#root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ending = false;
    running.add(child);
    child.once('exit', (code, signal) => {
      running.delete(child);
      if (this.#ending) return;
      this.died = `${this.role} died (${signal ?? code}):\n${this.lastWords()}`;
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => this.log.push(line));
    }
    this.#child = child;
  }

  async #comesUp(until: 'ready' | 'alive'): Promise<boolean> {
    const path = until === 'ready' ? '/readyz' : '/healthz';
    const endMs = monotonicMs() + START_LIMIT_MS;
    while (this.alive && monotonicMs() < endMs) {
      const answer = await fetch(this.healthUrl + path, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.ok) return true;
      await sleep(POLL_MS);
    }
    return false;
  }

  async #end(signal: NodeJS.Signals): Promise<Exit> {
    const child = this.#child;
    const startedMs = monotonicMs();
    this.#ending = true;
    if (child && this.alive) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    return { code: child?.exitCode ?? null, signal: child?.signalCode ?? null, afterMs: monotonicMs() - startedMs };
  }
}
