import { createSeededRandom } from '@undolog/demo/seeded-random';
import type { History } from './history.js';
import type { Tenant } from './tenant.js';

const LOOK_MS = 1000;
const ACTIONS = ['retry', 'retry', 'skip', 'resolve', 'leave'] as const;

/** A person who looks at the dead letters of an org, and presses each button twice. */
export class Operator {
  readonly #tenant: Tenant;
  readonly #stranger: Tenant;
  readonly #history: History;
  readonly #random;
  readonly #left = new Set<string>();
  #working: Promise<void> | undefined;
  #over = false;

  /** @param stranger another org, whose sessions this one must never see. */
  constructor(tenant: Tenant, stranger: Tenant, history: History, seed: number) {
    this.#tenant = tenant;
    this.#stranger = stranger;
    this.#history = history;
    this.#random = createSeededRandom(seed);
  }

  begin(): void {
    this.#working = this.#work();
  }

  async stop(): Promise<void> {
    this.#over = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (!this.#over) {
      await this.#look().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #look(): Promise<void> {
    const { data } = await this.#tenant.operator.deadLetters.list({ state: 'open', limit: 50 });
    for (const letter of data) {
      if (this.#over || this.#left.has(letter.dead_letter_id)) continue;
      await this.#act(letter.dead_letter_id, letter.session_id);
    }
    const [letter] = data;
    if (letter) await this.#snoop(letter.dead_letter_id);
  }

  async #act(letterId: string, session: string): Promise<void> {
    const action = this.#random.pick(ACTIONS);
    if (action === 'leave') return void this.#left.add(letterId);
    const { deadLetters } = this.#tenant.operator;
    this.#history.note('acting', { org: this.#tenant.orgId, session, action });
    const press = () => {
      switch (action) {
        case 'retry':
          return deadLetters.retry(letterId);
        case 'skip':
          return deadLetters.skip(letterId, { reason: 'the vendor was told by telephone' });
        case 'resolve':
          return deadLetters.resolve(letterId, { reason: 'the vendor was told by telephone' });
        default:
          return action satisfies never;
      }
    };
    await Promise.allSettled([press(), press()]);
  }

  /** The other org asks for what is not its own. */
  async #snoop(letterId: string): Promise<void> {
    const seen = await this.#stranger.operator.deadLetters.get(letterId).then(
      () => true,
      () => false,
    );
    this.#history.note('snooped', { org: this.#stranger.orgId, seen });
  }
}
