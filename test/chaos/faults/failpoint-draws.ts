import { FAILPOINTS, type Failpoint } from '@undolog/shared/domain/failpoints';
import type { SeededRandom } from '@undolog/demo/seeded-random';

/** After how many times a place acts, at most: commits are many, calls are fewer. */
const REACHED: Readonly<Record<Failpoint, number>> = {
  before_commit: 120,
  after_commit: 120,
  before_post: 30,
  after_post: 30,
  after_answer: 30,
  before_enqueue: 50,
  after_enqueue: 50,
};
export const API_FAILPOINTS = ['before_commit', 'after_commit', 'before_enqueue', 'after_enqueue'] as const;
const BLOCK_MS = 7000;

/** Mostly a kill: it is what the promise is about. */
const ACTIONS = ['kill', 'kill', 'kill', 'kill', 'kill', 'kill', 'throw', 'freeze', `block:${BLOCK_MS}`] as const;

/** What a process is started with: two places at which it breaks. */
export function drawFailpoints(random: SeededRandom, role: 'api' | 'compensator'): string {
  const places: readonly [Failpoint, ...Failpoint[]] = role === 'api' ? API_FAILPOINTS : FAILPOINTS;
  return [1, 2]
    .map(() => {
      const point = random.pick(places);
      return `${point}=${random.pick(ACTIONS)}@${random.between(1, REACHED[point])}`;
    })
    .join(',');
}
