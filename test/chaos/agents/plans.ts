import { createSeededRandom, type SeededRandom } from '@undolog/demo/seeded-random';
import type { MannerName } from '../vendor/manners.js';

/** What an agent does of one call: reports it, dies before, or says that it doesn't know. */
export type Report = 'commits' | 'says_nothing' | 'says_unknown' | 'says_not_applied';

export interface CallPlan {
  readonly manner: MannerName;
  readonly report: Report;
  /** Undefined: the server numbers it. */
  readonly step: number | undefined;
  /** Undefined: its arguments are plain. */
  readonly poison: number | undefined;
}

/**
 * `dies`: nothing is heard of the agent any more · `lands_late`: the last call is made and reported after the failure ·
 * `stampede`: many reports, failures and cancellations at once · `rolls_back`: to its first call, and completes then.
 */
export type Ending = 'completes' | 'fails' | 'cancelled' | 'dies' | 'lands_late' | 'stampede' | 'rolls_back';

export interface SessionPlan {
  readonly id: string;
  /** Which of the orgs. Both have sessions of the same ids. */
  readonly org: 0 | 1;
  readonly policy: 'halt' | 'continue';
  readonly calls: readonly CallPlan[];
  readonly ending: Ending;
}

const WELL: readonly [MannerName, ...MannerName[]] = ['ok', 'ok', 'ok', 'slow', 'confirmed', 'looked_up'];
const PASSING: readonly [MannerName, ...MannerName[]] = [
  'half_open',
  'applies_then_drops',
  'in_progress',
  'throttled',
  'not_found',
  'gone',
  'garbage',
  'accepted',
  'byte_a_second',
];
const FOR_GOOD: readonly [MannerName, ...MannerName[]] = [
  'replayed_500',
  'refused',
  'error_body',
  'lying',
  'redirected',
  'deadly',
  'forgets_keys',
];
const ENDINGS: readonly [Ending, ...Ending[]] = [
  ...Array<Ending>(11).fill('fails'),
  ...Array<Ending>(3).fill('completes'),
  ...Array<Ending>(2).fill('dies'),
  ...Array<Ending>(2).fill('lands_late'),
  'cancelled',
  'stampede',
  'rolls_back',
] as unknown as [Ending];

const ODD_FOR_GOOD = 0.04;
const ODD_FOR_A_WHILE = 0.25;
/** One session of a run is this one, and deep. */
const DEEP_SESSION = 20;

function chance(random: SeededRandom, share: number): boolean {
  return random.between(1, 1000) <= share * 1000;
}

function mannerOf(random: SeededRandom): MannerName {
  if (chance(random, ODD_FOR_GOOD)) return random.pick(FOR_GOOD);
  return random.pick(chance(random, ODD_FOR_A_WHILE) ? PASSING : WELL);
}

function reportOf(random: SeededRandom, ending: Ending): Report {
  if (ending === 'completes' || ending === 'rolls_back') return chance(random, 0.1) ? 'says_not_applied' : 'commits';
  if (chance(random, 0.85)) return 'commits';
  return random.pick(['says_nothing', 'says_unknown', 'says_not_applied']);
}

export interface PlanOptions {
  readonly seed: number;
  readonly deepCalls: number;
  /** A manner that is met at every other call. */
  readonly often?: MannerName | undefined;
}

/** The n-th session of a seed; the same whatever else happens. */
export function planSession({ seed, deepCalls, often }: PlanOptions, n: number): SessionPlan {
  const random = createSeededRandom(seed * 1_000_003 + n);
  const deep = n === DEEP_SESSION;
  const drawn = random.pick(ENDINGS);
  const ending = deep ? 'fails' : drawn;
  const count = deep ? deepCalls : random.between(1, 5);
  const scrambled = chance(random, 0.15);
  const order = [...random.sample(count, count)];
  const calls = Array.from({ length: count }, (_, index): CallPlan => ({
    manner: deep ? 'ok' : often !== undefined && chance(random, 0.5) ? often : mannerOf(random),
    report: deep ? 'commits' : reportOf(random, ending),
    step: scrambled ? order[index]! * 10 : undefined,
    poison: chance(random, 0.1) ? random.between(0, 99) : undefined,
  }));
  const policy = chance(random, 0.2) ? 'continue' : 'halt';
  return { id: `s-${Math.floor(n / 2)}`, org: (n % 2) as 0 | 1, policy, calls, ending };
}

/** A session of one call that fails at once, to see whether all is well. */
export function planProbe(n: number): SessionPlan {
  const call: CallPlan = { manner: 'ok', report: 'commits', step: undefined, poison: undefined };
  return { id: `probe-${n}`, org: 0, policy: 'halt', calls: [call], ending: 'fails' };
}
