import { z } from 'zod';
import { BREAKER_STATES } from '../domain/breaker.js';
import {
  BODY_RULE_VERDICTS,
  COMPENSATION_METHODS,
  DEFAULT_CONFIRM_BUDGET_MS,
  DEFAULT_CONFIRM_INTERVAL_MS,
  DEFAULT_KEY_TTL_SECONDS,
  DEFAULT_LOOKUP_SETTLE_MS,
  DEFAULT_RETRY,
  DEFAULT_TIMEOUT_MS,
  JITTERS,
  type Compensation,
} from '../domain/compensation.js';
import { parsePointer } from '../domain/json-pointer.js';
import {
  MAX_BACKOFF_MS,
  MAX_BODY_RULES,
  MAX_CONFIRM_BUDGET_MS,
  MAX_HEADERS,
  MAX_HEADER_CHARS,
  MAX_KEY_TTL_SECONDS,
  MAX_NAME_CHARS,
  MAX_REASON_CHARS,
  MAX_RETRIES,
  MAX_TIMEOUT_MS,
  MAX_UNDO_DEADLINE_SECONDS,
  MAX_URL_CHARS,
} from '../domain/limits.js';
import { anyJson, jsonString, type RequestBody } from './json-member.js';
import { nameText, timestamp } from './text.js';

const wait = (maxMs: number) => z.int().min(0).max(maxMs);

/** Whether an address may be called is decided by the egress policy, not here. */
const url = z.string().min(1).max(MAX_URL_CHARS);

const pointer = z
  .string()
  .refine((text) => parsePointer(text) !== undefined, 'must be a JSON pointer (RFC 6901)')
  .meta({ description: 'RFC 6901; empty: the whole document.' });

const statuses = z.array(z.int().min(100).max(599)).max(100).default([]);

const bodyRule = z
  .strictObject({
    pointer,
    equals: z.unknown().exactOptional(),
    in: z.array(z.unknown()).min(1).max(100).exactOptional(),
    exists: z.boolean().exactOptional(),
    is: z.enum(BODY_RULE_VERDICTS),
  })
  .refine(
    (rule) => ['equals', 'in', 'exists'].filter((test) => test in rule).length === 1,
    'must have exactly one of equals, in and exists',
  );

const retry = z.strictObject({
  max_retries: z.int().min(0).max(MAX_RETRIES).default(DEFAULT_RETRY.max_retries),
  initial_ms: wait(MAX_BACKOFF_MS).default(DEFAULT_RETRY.initial_ms),
  multiplier: z.number().min(1).max(100).default(DEFAULT_RETRY.multiplier),
  max_ms: wait(MAX_BACKOFF_MS).default(DEFAULT_RETRY.max_ms),
  jitter: z.enum(JITTERS).default(DEFAULT_RETRY.jitter),
});

const outcomes = z.strictObject({
  done: statuses,
  retry: statuses,
  permanent: statuses,
  body: z.array(bodyRule).max(MAX_BODY_RULES).default([]),
});

const confirm = z
  .strictObject({
    url,
    done_when: z
      .strictObject({ pointer, equals: z.unknown() })
      .refine((test) => 'equals' in test, { path: ['equals'], error: 'is required' })
      .exactOptional(),
    done_on_status: statuses,
    failed_when: z
      .strictObject({
        pointer,
        equals: z.unknown().exactOptional(),
        in: z.array(z.unknown()).min(1).max(100).exactOptional(),
      })
      .refine((test) => 'equals' in test !== 'in' in test, 'must have exactly one of equals and in')
      .exactOptional()
      .meta({
        description: 'What the record shows when an accepted undo did not come about; the entry is then `failed`.',
      }),
    budget_ms: wait(MAX_CONFIRM_BUDGET_MS).default(DEFAULT_CONFIRM_BUDGET_MS),
    interval_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_CONFIRM_INTERVAL_MS),
  })
  .refine(
    (asked) => asked.done_when !== undefined || asked.done_on_status.length > 0,
    'must have done_when or done_on_status, or no answer could ever agree',
  );

const lookup = z.strictObject({
  url,
  result_pointer: pointer.default(''),
  absent_on_status: statuses,
  settle_ms: wait(MAX_CONFIRM_BUDGET_MS).default(DEFAULT_LOOKUP_SETTLE_MS),
});

const headerValue = z.union([
  z.string().max(MAX_HEADER_CHARS),
  z.strictObject({ secret: z.string().min(1).max(MAX_NAME_CHARS) }),
]);

const putCompensation = z
  .strictObject({
    url,
    method: z.enum(COMPENSATION_METHODS).default('POST'),
    timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
    headers: z
      .record(z.string(), headerValue)
      .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `must have at most ${MAX_HEADERS} headers`)
      .default({}),
    retry: retry.default(DEFAULT_RETRY),
    outcomes: outcomes.default({ done: [], retry: [], permanent: [], body: [] }),
    confirm: confirm.exactOptional(),
    lookup: lookup.exactOptional(),
    async: z.boolean().default(false),
    wait_out_outages: z.boolean().default(true).meta({
      description:
        'Its entries wait while their host is down. false: they use up their budgets, and the session halts.',
    }),
    key_ttl_seconds: z.int().min(1).max(MAX_KEY_TTL_SECONDS).default(DEFAULT_KEY_TTL_SECONDS).meta({
      description:
        'How long the vendor keeps an idempotency key. Once a call that may have taken is older, it is only repeated when `confirm` shows that it did not take.',
    }),
    undo_deadline_seconds: z.int().min(1).max(MAX_UNDO_DEADLINE_SECONDS).exactOptional().meta({
      description:
        'How long after the commit of the effect the vendor still undoes it, such as a refund window. Past it nothing is called.',
    }),
  })
  .meta({ id: 'PutCompensation' });

/** The parsed body is a whole `Compensation`: what was left out is filled with the defaults. */
export const putCompensationBody = {
  schema: putCompensation satisfies z.ZodType<Compensation>,
  raw: {},
} satisfies RequestBody;

/** `fn_name` and `version` as they stand in the address. */
export const compensationName = z.strictObject({
  fn_name: nameText('What the compensation does, such as cancel_hotel.'),
  version: nameText('A version never changes; register a new one instead.'),
});

export const compensationView = z
  .object({
    fn_name: z.string(),
    version: z.string(),
    ...putCompensation.shape,
    created_at: timestamp,
    paused: z.boolean().meta({ description: 'All its versions are: no entry of it is called.' }),
    pause_reason: anyJson('As it was given.').nullable(),
    breaker: z
      .object({ state: z.enum(BREAKER_STATES), since: timestamp.nullable(), retry_at: timestamp.nullable() })
      .meta({ description: "Of the address's host; not closed: its entries wait until the host answers again." }),
  })
  .meta({ id: 'Compensation' });

const pauseCompensation = z
  .strictObject({ reason: jsonString(MAX_REASON_CHARS, 'Why, in words for people.') })
  .meta({ id: 'PauseCompensation' });

export const pauseCompensationBody = { schema: pauseCompensation, raw: { reason: true } } satisfies RequestBody;

export const compensationPause = z
  .object({
    fn_name: z.string(),
    paused: z.boolean(),
    reason: anyJson('As it was given; null: not paused.').nullable(),
  })
  .meta({ id: 'CompensationPause' });
