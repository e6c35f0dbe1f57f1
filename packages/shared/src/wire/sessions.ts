import { z } from 'zod';
import { FAILURE_KINDS, FAILURE_POLICIES } from '../domain/failure.js';
import {
  ALL_POSITIONS,
  DEFAULT_LEASE_SECONDS,
  MAX_AGE_LIMIT_SECONDS,
  MAX_LEASE_SECONDS,
  MAX_REASON_CHARS,
  MAX_STACK_POSITION,
} from '../domain/limits.js';
import { SESSION_STATES, UNDO_STATES } from '../domain/states.js';
import { PLAN_ACTIONS } from '../domain/unwind-plan.js';
import { anyJson, jsonString, type RequestBody } from './json-member.js';
import { pageQuery } from './paging.js';
import { instant, nameText, sessionIdText, timestamp, uuid } from './text.js';

const position = z.int().min(0).max(MAX_STACK_POSITION);

const openSession = z
  .strictObject({
    session_id: sessionIdText.optional(),
    agent_name: nameText('Which agent runs.').optional(),
    external_run_id: nameText('The id of the run in another system.').optional(),
    metadata: anyJson('Kept and shown as it came.').optional(),
    on_compensation_failure: z.enum(FAILURE_POLICIES).default('halt'),
    lease_seconds: z
      .int()
      .min(0)
      .max(MAX_LEASE_SECONDS)
      .default(DEFAULT_LEASE_SECONDS)
      .meta({ description: 'Without a sign of life for this long the session fails; 0: never.' }),
    max_age_seconds: z
      .int()
      .min(0)
      .max(MAX_AGE_LIMIT_SECONDS)
      .default(0)
      .meta({ description: 'However alive, the session fails at this age; 0: never.' }),
    parent: z
      .strictObject({ session_id: sessionIdText, stack_position: position })
      .optional()
      .meta({ description: 'The session that unwinds this one, just before its own entry at that position.' }),
  })
  .meta({ id: 'OpenSession' });

export const openSessionBody = { schema: openSession, raw: { metadata: true } } satisfies RequestBody;

const completeSession = z.strictObject({ leave_unknown: z.boolean().default(false) }).meta({ id: 'CompleteSession' });

export const completeSessionBody = { schema: completeSession, raw: {} } satisfies RequestBody;

const reason = jsonString(MAX_REASON_CHARS, 'Why, in words for people.');

const planDigest = z
  .string()
  .max(100)
  .meta({ description: 'Of a plan: as a condition, nothing is started unless what would be done now is that plan.' });

const failSession = z
  .strictObject({ reason, effect_id: z.string().max(100).optional(), plan_digest: planDigest.optional() })
  .meta({ id: 'FailSession' });

export const failSessionBody = { schema: failSession, raw: { reason: true } } satisfies RequestBody;

const cancelSession = z.strictObject({ reason, plan_digest: planDigest.optional() }).meta({ id: 'CancelSession' });

export const cancelSessionBody = { schema: cancelSession, raw: { reason: true } } satisfies RequestBody;

const toPosition = z
  .int()
  .min(ALL_POSITIONS)
  .max(MAX_STACK_POSITION)
  .meta({ description: 'What is above this position is undone; -1: everything.' });

const rollBackSession = z
  .strictObject({ to_position: toPosition, plan_digest: planDigest.optional() })
  .meta({ id: 'RollBackSession' });

export const rollBackSessionBody = { schema: rollBackSession, raw: {} } satisfies RequestBody;

const planSession = z.strictObject({ to_position: toPosition.default(ALL_POSITIONS) }).meta({ id: 'PlanSession' });

export const planSessionBody = { schema: planSession, raw: {} } satisfies RequestBody;

export const sessionPlan = z
  .object({
    steps: z.array(
      z.object({
        session_id: z.string().meta({ description: 'The session itself, or a child that is undone with it.' }),
        stack_position: z.int(),
        undo_id: uuid,
        fn_name: z.string().nullable(),
        version: z.string().nullable(),
        action: z.enum(PLAN_ACTIONS),
        reason: z.string(),
      }),
    ),
    cannot_undo: z.array(uuid).meta({ description: 'Irreversible effects.' }),
    unknown: z.array(uuid).meta({ description: 'Effects of which nobody knows whether they took place.' }),
    digest: planDigest,
  })
  .meta({ id: 'SessionPlan' });

const nothing = z.strictObject({}).meta({ id: 'Nothing' });

export const emptyBody = { schema: nothing, raw: {} } satisfies RequestBody;

export const listSessionsQuery = z.strictObject({
  ...pageQuery,
  state: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(SESSION_STATES)).min(1))
    .optional()
    .meta({ type: 'string', description: 'One state, or several with commas between them.' }),
  session_id: sessionIdText.optional().meta({ description: 'The beginning of an id. Looks at 10,000 such sessions.' }),
  external_run_id: nameText('Only sessions of this run.').optional(),
  agent_name: nameText('Only sessions of this agent.').optional(),
  created_after: instant.optional(),
  created_before: instant.optional(),
});

export const standingEffect = z.object({
  effect_id: uuid,
  tool_name: z.string(),
  stack_position: z.int(),
  reason: z.string().nullable(),
  outcome: z.string(),
});

export const sessionView = z
  .object({
    session_id: z.string(),
    state: z.enum(SESSION_STATES),
    agent_name: z.string().nullable(),
    external_run_id: z.string().nullable(),
    metadata: anyJson('As it came.').nullable(),
    on_compensation_failure: z.enum(FAILURE_POLICIES),
    lease_expires_at: timestamp.nullable(),
    rollback_to: z.int().nullable(),
    parent: z.object({ session_id: z.string(), stack_position: z.int() }).nullable(),
    fully_compensated: z.boolean().meta({ description: 'Every effect is undone and none stands.' }),
    created_at: timestamp,
    updated_at: timestamp,
    undo_counts: z.object(
      Object.fromEntries(UNDO_STATES.map((state) => [state, z.int()])) as Record<
        (typeof UNDO_STATES)[number],
        z.ZodInt
      >,
    ),
    effects_standing: z.array(standingEffect),
    failure: z
      .object({
        reason: jsonString(MAX_REASON_CHARS, 'As it was given.'),
        kind: z.enum(FAILURE_KINDS),
        effect_id: uuid.nullable(),
        at: timestamp,
      })
      .nullable(),
    retry_at: timestamp.nullable(),
    data_erased_at: timestamp
      .nullable()
      .meta({ description: 'What was said in it was erased; `"[erased]"` stands there.' }),
  })
  .meta({ id: 'Session' });

export const sessionState = z
  .object({ session_id: z.string(), state: z.enum(SESSION_STATES) })
  .meta({ id: 'SessionState' });

export const erasedData = z
  .object({
    session_id: z.string(),
    data_erased_at: timestamp,
    complete: z.boolean().meta({ description: 'False: there is more than one request erases. Repeat it.' }),
  })
  .meta({ id: 'ErasedData' });

export const renewedLease = z.object({ lease_expires_at: timestamp.nullable() }).meta({ id: 'RenewedLease' });
