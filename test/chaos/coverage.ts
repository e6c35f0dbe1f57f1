import { FAILPOINTS } from '@undolog/shared/domain/failpoints';
import { API_FAILPOINTS } from './faults/failpoint-draws.js';
import type { RunResult } from './run-seed.js';
import type { Tier } from './tiers.js';
import { MANNERS } from './vendor/manners.js';

/** What a whole campaign must have met at least once; what it has not met it has not proved. */
export interface Coverage {
  readonly promise: string;
  readonly missing: readonly string[];
}

export function coverageOf(results: readonly RunResult[], tier: Tier): Coverage[] {
  const met = new Set(results.flatMap(({ tally }) => [...tally.counts.keys()]));
  const manners = new Set(results.flatMap((result) => result.manners));
  const unmet = (names: readonly string[]): string[] => names.filter((name) => !met.has(name));
  const [kills, most] = [results.reduce((sum, { tally }) => sum + tally.kills, 0), tier.runs * tier.kills];
  const never = (action: string): boolean => ![...met].some((name) => name.startsWith(`compensator ${action} `));
  return [
    { promise: 'every fault was struck', missing: unmet(tier.faults) },
    {
      promise: 'a compensator was killed at every failpoint',
      missing: unmet(FAILPOINTS.map((point) => `compensator kill ${point}`)),
    },
    {
      promise: 'an api was killed at every failpoint that it has',
      missing: unmet(API_FAILPOINTS.map((point) => `api kill ${point}`)),
    },
    { promise: 'one froze, was blocked, and threw', missing: ['freeze', 'block', 'throw'].filter(never) },
    {
      promise: 'every manner of the vendor was met',
      missing: Object.keys(MANNERS).filter((manner) => !manners.has(manner)),
    },
    { promise: `${most} kills`, missing: kills >= most ? [] : [`there were ${kills}`] },
  ];
}
