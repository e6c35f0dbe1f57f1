import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from '../stage/stage.js';
import { Agent } from './agent.js';
import { planProbe, planSession, type PlanOptions, type SessionPlan } from './plans.js';

const PROBE_LIMIT_MS = 5000;
const LOOK_MS = 50;

/** Agents of a seed, one after the other and so many at a time, until nobody is let in any more. */
export class Crowd {
  readonly #stage: Stage;
  readonly #options: PlanOptions;
  readonly #away: Promise<void>[] = [];
  #sessions = 0;
  #probes = 0;
  #open = true;

  constructor(stage: Stage, options: PlanOptions) {
    this.#stage = stage;
    this.#options = options;
  }

  /** How many agents have begun. */
  get started(): number {
    return this.#sessions + this.#probes;
  }

  letIn(atATime: number): void {
    for (let lane = 0; lane < atATime; lane++) this.#away.push(this.#lane());
  }

  /** Sends one more agent, whose only call is undone at once. @returns how long that took, unless it took too long. */
  async probe(): Promise<number | undefined> {
    const startedMs = performance.now();
    const plan = planProbe(this.#probes++);
    this.#away.push(this.#send(plan));
    while (performance.now() - startedMs < PROBE_LIMIT_MS) {
      const [row] = await this.#stage.rows<{ state: string }>(
        `SELECT state FROM undolog_sessions WHERE session_id = '${plan.id}'`,
      );
      if (row?.state === 'compensated') return performance.now() - startedMs;
      await sleep(LOOK_MS);
    }
    return undefined;
  }

  /** Nobody begins any more. Resolves when all that have begun have done their part. */
  async close(): Promise<void> {
    this.#open = false;
    await Promise.all(this.#away);
  }

  async #lane(): Promise<void> {
    while (this.#open) await this.#send(planSession(this.#options, this.#sessions++));
  }

  #send(plan: SessionPlan): Promise<void> {
    const { history, tenants, vendor } = this.#stage;
    return new Agent({ tenant: tenants[plan.org]!, history, vendorUrl: vendor.url }, plan).run();
  }
}
