import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkAlways, checkDrained, checkStep } from '../model/invariants.js';
import { Machine, type Happening } from '../model/machine.js';
import { PLANTED_BUGS, type PlantedBug, type Verdict } from '../model/unwind.js';

const SCHEDULES = 20_000;
const SEED = 20_261_201;

const pick = fc.nat({ max: 3 });
const session = pick;

const plain = <K extends 'fail' | 'claim' | 'crash' | 'retry' | 'skip' | 'resolve'>(kind: K) =>
  fc.record({ kind: fc.constant(kind), session });

const opened = fc.record({
  kind: fc.constant('open' as const),
  policy: fc.constantFrom('halt' as const, 'continue' as const),
  parent: fc.option(pick),
});

/** How often each kind comes is chosen so that most schedules register, fail and unwind something. */
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 1, arbitrary: opened },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('register' as const), session, at: fc.nat({ max: 4 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('commit' as const), session, effect: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('tool_failed' as const),
      session,
      effect: pick,
      unknown: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: plain('fail') },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('complete' as const), session, leaveUnknown: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollback' as const), session, to: fc.nat({ max: 4 }) }) },
  { weight: 10, arbitrary: plain('claim') },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      session,
      verdict: fc.constantFrom<Verdict[]>('done', 'done', 'refused', 'unknown', 'retry'),
    }),
  },
  { weight: 2, arbitrary: plain('crash') },
  { weight: 1, arbitrary: plain('retry') },
  { weight: 1, arbitrary: plain('skip') },
  { weight: 1, arbitrary: plain('resolve') },
);

const schedules = fc
  .tuple(opened, fc.array(happening, { minLength: 20, maxLength: 60, size: 'max' }))
  .map(([first, rest]) => [first, ...rest]);

function run(schedule: readonly Happening[], bug?: PlantedBug): Machine {
  const machine = new Machine(bug);
  for (const one of schedule) {
    const before = new Map(machine.world.sessions.map(({ index, state }) => [index, state]));
    machine.apply(one);
    checkStep(before, machine.world, one.kind);
    checkAlways(machine.world);
  }
  machine.drain();
  checkAlways(machine.world);
  checkDrained(machine.world);
  return machine;
}

describe('the state machine, under random schedules', () => {
  test(`keeps its invariants in ${SCHEDULES} of them`, { timeout: 60_000 }, () => {
    const ends = new Map<string, number>();
    fc.assert(
      fc.property(schedules, (schedule) => {
        for (const { state } of run(schedule).world.sessions) ends.set(state, (ends.get(state) ?? 0) + 1);
      }),
      { numRuns: SCHEDULES, seed: SEED },
    );
    // The schedules are worth something only if they lead everywhere.
    for (const state of ['active', 'completed', 'compensated', 'halted', 'resolved']) {
      expect(ends.get(state) ?? 0, `sessions that ended ${state}`).toBeGreaterThan(SCHEDULES / 100);
    }
  });

  test.each(PLANTED_BUGS)('finds the planted bug %s', (bug) => {
    const outcome = fc.check(
      fc.property(schedules, (schedule) => void run(schedule, bug)),
      { numRuns: SCHEDULES, seed: SEED },
    );
    expect(outcome.failed, 'no schedule noticed').toBe(true);
  });
});
