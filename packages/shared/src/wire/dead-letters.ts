import { z } from 'zod';
import { UNDO_STATES } from '../domain/states.js';
import { pageQuery } from './paging.js';
import { timestamp, uuid } from './text.js';

export const DEAD_LETTER_STATES = ['open', 'closed'] as const;

export const listDeadLettersQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(DEAD_LETTER_STATES).optional(),
});

const entryRef = z.object({ undo_id: uuid, stack_position: z.int(), state: z.enum(UNDO_STATES) });

export const deadLetterView = z
  .object({
    dead_letter_id: uuid,
    session_id: z.string(),
    state: z.enum(DEAD_LETTER_STATES),
    undo_id: uuid.nullable().meta({ description: 'The broken entry; null: a child session is halted.' }),
    child_session_id: z.string().nullable(),
    stack_position: z.int().nullable(),
    code: z.string().nullable(),
    attempts: z.int(),
    broken: z.array(entryRef).meta({ description: 'Entries that need a person.' }),
    not_undone: z.array(entryRef).meta({ description: 'Entries that wait behind them.' }),
    halted_at: timestamp,
  })
  .meta({ id: 'DeadLetter' });
