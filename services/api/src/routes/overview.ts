import { addMilliseconds } from '@undolog/shared/runtime/clock';
import { countOutcomes } from '@undolog/shared/store/count-outcomes';
import {
  AGE_STEPS_SECONDS,
  countOverview,
  LATENCY_STEPS_MS,
  MAX_LETTERS,
  readTroubles,
  type OverviewCounts,
} from '@undolog/shared/store/read-overview';
import { outcomesView, overviewQuery, overviewView } from '@undolog/shared/wire/overview';
import { answer } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

/** Steps of each window that a person can tell apart: minutes of an hour, half hours of a day, three hours of a week. */
const STEPS: Readonly<Record<number, number>> = { 1: 60, 24: 48, 168: 56 };

const NOTHING = { opened: 0, completed: 0, compensated: 0, halted: 0 };

/** Every step, also those in which nothing happened. */
function bucketsOf({ since, steps }: OverviewCounts, hours: number) {
  const stepMs = (hours * 3_600_000) / STEPS[hours]!;
  const buckets = Array.from({ length: STEPS[hours]! }, (_, n) => ({
    at: addMilliseconds(since, n * stepMs),
    ...NOTHING,
  }));
  for (const [step, what, count] of steps ?? []) {
    const bucket = buckets[step - 1];
    if (bucket && what in NOTHING) bucket[what as keyof typeof NOTHING] = count;
  }
  return buckets;
}

/** `ends` are the upper ends of the steps; one more is open. */
function stepsOf(ends: readonly number[], counted: readonly (readonly [number, number])[] | null) {
  const counts = new Map(counted);
  return [...ends, null].map((upTo, step) => ({ upTo, count: counts.get(step) ?? 0 }));
}

const overview = defineRoute({
  method: 'get',
  path: '/v1/overview',
  roles: ['operator'],
  summary: 'How the org has been doing',
  query: overviewQuery,
  answers: { 200: { description: 'Counts of the time asked for.', schema: overviewView } },
  refusals: [],
  async handle({ caller: { orgId }, query: { hours }, resources: { database } }) {
    const counts = await countOverview(database, orgId, hours, STEPS[hours]!);
    const { breakers, paused } = await readTroubles(database, orgId);
    const { active, failed, compensating, open_letters: open } = counts;
    return answer(200, {
      at: counts.at,
      hours,
      states: { active, failed, compensating, halted: Math.min(open, MAX_LETTERS) },
      capped: [...(counts.active_capped ? ['active'] : []), ...(open > MAX_LETTERS ? ['halted'] : [])],
      buckets: bucketsOf(counts, hours),
      unwind: {
        ...counts.timed,
        histogram: stepsOf(LATENCY_STEPS_MS, counts.latencies).map(({ upTo, count }) => ({ up_to_ms: upTo, count })),
      },
      dead_letters: {
        open: Math.min(open, MAX_LETTERS),
        oldest_halted_at: counts.oldest_halted_at,
        by_code: counts.codes ?? [],
        by_age: stepsOf(AGE_STEPS_SECONDS, counts.ages).map(({ upTo, count }) => ({ up_to_seconds: upTo, count })),
      },
      breakers,
      paused,
      sampled: counts.sampled,
    });
  },
});

const outcomes = defineRoute({
  method: 'get',
  path: '/v1/compensations/outcomes',
  roles: ['operator'],
  summary: 'How the undos of each compensation ended',
  query: overviewQuery,
  answers: { 200: { description: 'Each end counts; an entry may have several.', schema: outcomesView } },
  refusals: [],
  async handle({ caller: { orgId }, query: { hours }, resources: { database } }) {
    const { counts, sampled } = await countOutcomes(database, orgId, hours);
    return answer(200, { data: counts, sampled });
  },
});

export const overviewRoutes: readonly Route[] = [overview, outcomes];
