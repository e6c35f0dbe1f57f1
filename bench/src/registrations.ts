import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpDriver } from './http-driver.js';
import { inParallel } from './in-parallel.js';
import { latencyOf, type LatencyMs } from './percentiles.js';
import type { Product } from './processes.js';
import { cancelName, COMPENSATION_VERSION, type Tenant } from './tenant.js';

const EFFECTS_PER_SESSION = 20;

export interface Registered {
  readonly perSecond: number;
  readonly latencyMs: LatencyMs;
}

/** Registers effects, and nothing else: what an agent waits for before each tool call. */
export class Registrations {
  readonly #driver: HttpDriver;
  readonly #product: Product;
  readonly #tenant: Tenant;
  readonly #leg: string;

  constructor(o: { driver: HttpDriver; product: Product; tenant: Tenant; leg: string }) {
    this.#driver = o.driver;
    this.#product = o.product;
    this.#tenant = o.tenant;
    this.#leg = o.leg;
  }

  /** As fast as `concurrency` agents go, each of which waits for its answer; twenty effects to a session. */
  async closedLoop(prefix: string, total: number, concurrency: number): Promise<Registered> {
    const sessions = Math.ceil(total / EFFECTS_PER_SESSION);
    await this.#openSessions(prefix, sessions);
    const samples: number[] = [];
    const startedMs = performance.now();
    await inParallel(sessions, concurrency, async (session) => {
      for (let effect = 0; effect < EFFECTS_PER_SESSION; effect += 1) {
        const sentMs = performance.now();
        await this.#register(`${prefix}-${session}`);
        samples.push(performance.now() - sentMs);
      }
    });
    const seconds = (performance.now() - startedMs) / 1000;
    return { perSecond: samples.length / seconds, latencyMs: latencyOf(samples) };
  }

  /**
   * At a fixed rate, whether answers come or not. A latency counts from when its request was due, so that a stall is
   * seen by all who would have met it.
   */
  async openLoop(prefix: string, total: number, perSecond: number): Promise<Registered> {
    const sessions = Math.ceil(total / EFFECTS_PER_SESSION);
    await this.#openSessions(prefix, sessions);
    const samples: number[] = [];
    const pending: Promise<void>[] = [];
    const startedMs = performance.now();
    for (let sent = 0; sent < total;) {
      const dueMs = startedMs + (sent * 1000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) {
        await sleep(waitMs);
        continue;
      }
      const registered = this.#register(`${prefix}-${sent % sessions}`);
      pending.push(registered.then(() => void samples.push(performance.now() - dueMs)));
      sent += 1;
    }
    await Promise.all(pending);
    const seconds = (performance.now() - startedMs) / 1000;
    return { perSecond: samples.length / seconds, latencyMs: latencyOf(samples) };
  }

  async #openSessions(prefix: string, count: number): Promise<void> {
    const { authorization } = this.#tenant;
    await inParallel(count, 32, async (index) => {
      const body = { session_id: `${prefix}-${index}` };
      await this.#driver.mustSend('POST', this.#api(index), '/v1/sessions', body, authorization);
    });
  }

  #api(index: number): string {
    const { apiUrls } = this.#product;
    return apiUrls[index % apiUrls.length]!;
  }

  #sent = 0;

  async #register(session: string): Promise<void> {
    const args = { trip: session };
    const compensation = { fn_name: cancelName(this.#leg), version: COMPENSATION_VERSION, args };
    const effect = { tool_name: `book_${this.#leg}`, args, effect_class: 'compensable', compensation };
    const path = `/v1/sessions/${session}/effects`;
    await this.#driver.mustSend('POST', this.#api(this.#sent++), path, effect, this.#tenant.authorization);
  }
}
