import { z } from 'zod';
import { EFFECT_CLASSES } from '../domain/effect-class.js';
import { MAX_CALL_TIMEOUT_MS, MAX_RETRIES, MAX_STACK_POSITION } from '../domain/limits.js';
import { EFFECT_STATES } from '../domain/states.js';
import { anyJson, jsonStringOrObject, type RequestBody } from './json-member.js';
import { nameText, timestamp, uuid } from './text.js';

export const DECISIONS = ['execute', 'in_flight', 'replay', 'refuse'] as const;

const undo = z.strictObject({
  fn_name: nameText('Of a registered compensation.'),
  version: nameText('Of a registered compensation.'),
  max_retries: z.int().min(0).max(MAX_RETRIES).optional().meta({ description: 'Wins over the one of the registry.' }),
  args: anyJson(
    'The body of the undo. `{"$args": pointer}` is filled in at registration, `{"$result": pointer}` once the ' +
      'result is known; `{"$literal": X}` sends X as it is.',
  ),
});

const registerEffect = z
  .strictObject({
    tool_name: nameText('Which tool is called.'),
    args: anyJson('The arguments of the tool call.'),
    step_index: z
      .int()
      .min(0)
      .max(MAX_STACK_POSITION)
      .optional()
      .meta({ description: 'The place in the stack; by default the next one.' }),
    call_id: nameText('The id that the agent gave to its tool call.').optional(),
    call_timeout_ms: z
      .int()
      .min(0)
      .max(MAX_CALL_TIMEOUT_MS)
      .default(0)
      .meta({ description: 'For how long the call may still land, if nobody reports it.' }),
    effect_class: z.enum(EFFECT_CLASSES),
    compensation: undo.optional(),
  })
  .refine((effect) => effect.effect_class === 'compensable' || effect.compensation === undefined, {
    path: ['compensation'],
    error: 'belongs to compensable effects only',
  })
  .meta({ id: 'RegisterEffect' });

export const registerEffectBody = {
  schema: registerEffect,
  raw: { args: true, compensation: { args: true } },
} satisfies RequestBody;

const commitEffect = z
  .strictObject({ result: anyJson('What the tool gave back.').optional() })
  .meta({ id: 'CommitEffect' });

export const commitEffectBody = { schema: commitEffect, raw: { result: true } } satisfies RequestBody;

const failEffect = z
  .strictObject({
    error: jsonStringOrObject('What went wrong.'),
    outcome: z.enum(['not_applied', 'unknown']).meta({ description: 'Whether the effect can have happened.' }),
  })
  .meta({ id: 'FailEffect' });

export const failEffectBody = { schema: failEffect, raw: { error: true } } satisfies RequestBody;

export const registeredEffect = z
  .object({
    decision: z.enum(DECISIONS).meta({ description: 'Run the tool only on `execute`.' }),
    effect_id: uuid,
    undo_id: uuid.nullable(),
    stack_position: z.int(),
    idempotency_key: z.string().meta({ description: 'For the forward call to the vendor.' }),
    result: anyJson('On `replay`: the result that was committed.').optional(),
    code: z.literal('effect_failed').optional(),
  })
  .meta({ id: 'RegisteredEffect' });

export const reportedEffect = z
  .object({ effect_id: uuid, undo_id: uuid.nullable(), state: z.enum(EFFECT_STATES) })
  .meta({ id: 'ReportedEffect' });

export const effectView = z
  .object({
    effect_id: uuid,
    tool_name: z.string(),
    effect_class: z.enum(EFFECT_CLASSES),
    state: z.enum(EFFECT_STATES),
    args: anyJson('As they came; null when they can not be read.').nullable(),
    result: anyJson('As it came.').nullable(),
    idempotency_key: z.string(),
    registered_at: timestamp,
    executed_at: timestamp.nullable(),
    committed_at: timestamp.nullable(),
  })
  .meta({ id: 'Effect' });
