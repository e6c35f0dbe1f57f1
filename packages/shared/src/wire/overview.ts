import { z } from 'zod';
import { BREAKER_STATES } from '../domain/breaker.js';
import { SESSION_STATES } from '../domain/states.js';
import { anyJson } from './json-member.js';
import { timestamp } from './text.js';

export const OVERVIEW_HOURS = ['1', '24', '168'] as const;

export const overviewQuery = z.strictObject({
  hours: z
    .enum(OVERVIEW_HOURS)
    .default('24')
    .transform(Number)
    .meta({ type: 'integer', enum: OVERVIEW_HOURS.map(Number), default: 24, description: 'How far it looks back.' }),
});

const ms = z.number().nullable();

export const overviewView = z
  .object({
    at: timestamp,
    hours: z.int(),
    states: z
      .object({ active: z.int(), failed: z.int(), compensating: z.int(), halted: z.int() })
      .meta({ description: 'Sessions now.' }),
    capped: z
      .array(z.enum(SESSION_STATES))
      .meta({ description: 'States of which there may be more: those among the newest were counted.' }),
    buckets: z
      .array(z.object({ at: timestamp, opened: z.int(), completed: z.int(), compensated: z.int(), halted: z.int() }))
      .meta({ description: 'What happened, in equal steps, the oldest first; `at` is when a step begins.' }),
    unwind: z
      .object({
        count: z.int(),
        p50_ms: ms,
        p95_ms: ms,
        p99_ms: ms,
        histogram: z.array(z.object({ up_to_ms: ms, count: z.int() })),
      })
      .meta({ description: 'From the failure of a session to its last undo.' }),
    dead_letters: z.object({
      open: z.int(),
      oldest_halted_at: timestamp.nullable(),
      by_code: z.array(z.object({ code: z.string(), count: z.int() })),
      by_age: z.array(z.object({ up_to_seconds: z.number().nullable(), count: z.int() })),
    }),
    breakers: z
      .array(
        z.object({
          host: z.string(),
          state: z.enum(BREAKER_STATES),
          since: timestamp.nullable(),
          retry_at: timestamp.nullable(),
        }),
      )
      .meta({ description: 'Hosts that are not called freely now.' }),
    paused: z.array(z.object({ fn_name: z.string(), pause_reason: anyJson('As it was given.') })),
    sampled: z.boolean().meta({
      description: 'The time held more than is read; `buckets` and `unwind` show its newest part.',
    }),
  })
  .meta({ id: 'Overview' });

export const compensationOutcomes = z
  .object({
    fn_name: z.string(),
    version: z.string(),
    compensated: z.int(),
    failed: z.int(),
    unconfirmed: z.int(),
    skipped: z.int(),
  })
  .meta({ id: 'CompensationOutcomes' });

export const outcomesView = z.object({
  data: z.array(compensationOutcomes),
  sampled: z.boolean().meta({ description: 'The time held more than is read; the newest part was counted.' }),
});
