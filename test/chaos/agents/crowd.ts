import type { Stage } from '../stage/stage.js';
import { Agent } from './agent.js';
import { planSession } from './plans.js';

/** Agents of a seed, one after the other and so many at a time, until nobody is let in any more. */
export class Crowd {
  readonly #stage: Stage;
  readonly #seed: number;
  readonly #lanes: Promise<void>[] = [];
  started = 0;
  #open = true;

  constructor(stage: Stage, seed: number) {
    this.#stage = stage;
    this.#seed = seed;
  }

  letIn(atATime: number): void {
    for (let lane = 0; lane < atATime; lane++) this.#lanes.push(this.#lane());
  }

  /** Nobody begins any more. Resolves when all that have begun have done their part. */
  async close(): Promise<void> {
    this.#open = false;
    await Promise.all(this.#lanes);
  }

  async #lane(): Promise<void> {
    const { history, tenants, vendor } = this.#stage;
    while (this.#open) {
      const plan = planSession(this.#seed, this.started++);
      await new Agent({ tenant: tenants[plan.org]!, history, vendorUrl: vendor.url }, plan).run();
    }
  }
}
