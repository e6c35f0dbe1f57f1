import { setTimeout as sleep } from 'node:timers/promises';
import { CLAIM_LEASE_MS } from '@undolog/compensator/held-claims';
import type { ProductProcess } from '../../support/product.js';
import type { Tally } from './tally.js';

/** Twice the lock of a job, and of a claim. */
export const TWICE_THE_LOCK_MS = 2 * CLAIM_LEASE_MS;
const LOOK_MS = 100;

/**
 * A process of the product that is started again whenever it has ended, as an orchestrator does, each time with other
 * failpoints; and continued when it has frozen itself.
 */
export class Supervised {
  readonly process: ProductProcess;
  readonly #tally: Tally;
  readonly #nextEnv: () => NodeJS.ProcessEnv;
  readonly #freezeMs: number;
  readonly #looking: NodeJS.Timeout;
  #read = 0;
  #thawAtMs: number | undefined;
  #running: Promise<void> | undefined;
  #over = false;

  constructor(process: ProductProcess, nextEnv: () => NodeJS.ProcessEnv, tally: Tally, freezeMs: number) {
    this.process = process;
    this.#nextEnv = nextEnv;
    this.#tally = tally;
    this.#freezeMs = freezeMs;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
  }

  begin(): void {
    this.#running = this.#keepAlive();
  }

  async untilReady(): Promise<void> {
    for (;;) {
      const seen = await this.process.readiness().catch(() => undefined);
      if (seen?.status === 200) return;
      await sleep(LOOK_MS);
    }
  }

  /** Kills it outright; it comes back. */
  async kill(): Promise<void> {
    if (!this.process.alive) return;
    this.#tally.count(`${this.process.role} killed`);
    this.#tally.kills += 1;
    this.thaw();
    await this.process.kill();
  }

  /** SIGTERM; it comes back. @returns how long it took, or undefined when it did not end by itself, and well. */
  async restart(): Promise<number | undefined> {
    this.thaw();
    const { code, afterMs } = await this.process.stop();
    return code === 0 ? afterMs : undefined;
  }

  freeze(): void {
    if (!this.process.alive || this.#thawAtMs !== undefined) return;
    this.#tally.count(`${this.process.role} frozen`);
    this.process.freeze();
    this.#thawAtMs = performance.now() + this.#freezeMs;
  }

  thaw(): void {
    this.#thawAtMs = undefined;
    this.process.thaw();
  }

  /** Ends it for good, in order. */
  async end(): Promise<void> {
    this.#over = true;
    clearInterval(this.#looking);
    this.thaw();
    await this.process.stop();
    await this.#running;
  }

  async #keepAlive(): Promise<void> {
    while (!this.#over) {
      await this.process.start({ until: 'alive', env: this.#nextEnv() }).catch(() => undefined);
      await this.process.ended();
      this.#thawAtMs = undefined;
      if (!this.#over) await sleep(LOOK_MS);
    }
  }

  #look(): void {
    const { log, role } = this.process;
    for (; this.#read < log.length; this.#read++) {
      const [, point, action] = /^failpoint (\w+) (\w+)$/.exec(log[this.#read]!) ?? [];
      if (point === undefined) continue;
      this.#tally.count(`${role} ${action} ${point}`);
      if (action === 'kill') this.#tally.kills += 1;
      if (action === 'freeze') this.#thawAtMs = performance.now() + this.#freezeMs;
    }
    if (this.#thawAtMs !== undefined && performance.now() >= this.#thawAtMs) this.thaw();
  }
}
