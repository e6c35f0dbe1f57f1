import { z } from 'zod';
import { UNDO_STATES } from '../domain/states.js';
import { UNSEAL_FAULTS } from '../domain/vault.js';
import { ATTEMPT_OUTCOMES } from '../domain/verdict.js';
import { effectView } from './effects.js';
import { anyJson } from './json-member.js';
import { timestamp, uuid } from './text.js';

export const attemptView = z
  .object({
    at: timestamp,
    status: z.int().nullable().meta({ description: 'The HTTP status, where an answer came.' }),
    outcome: z.enum(ATTEMPT_OUTCOMES).nullable(),
    error: z.string().nullable(),
    duration_ms: z.number().nullable(),
  })
  .meta({ id: 'Attempt' });

export const entryView = z
  .object({
    undo_id: uuid,
    effect_id: uuid,
    stack_position: z.int(),
    state: z.enum(UNDO_STATES),
    proof: z
      .enum(['confirmed', 'answered'])
      .nullable()
      .meta({ description: "How an undo is known: by the vendor's record, or by its answer." }),
    reason: z.string().nullable(),
    code: z.string().nullable(),
    registered_at: timestamp,
    compensated_at: timestamp.nullable(),
    fn_name: z.string().nullable(),
    version: z.string().nullable(),
    args: anyJson('The body of the undo.').nullable(),
    generation: z.int(),
    superseded_by: uuid.nullable(),
    unreadable: z
      .enum(UNSEAL_FAULTS)
      .nullable()
      .meta({ description: 'Why `args`, `effect.args` or `effect.result` is null although it was given.' }),
    effect: effectView,
    attempts: z.array(attemptView),
  })
  .meta({ id: 'UndoEntry' });
