import { z } from 'zod';
import { MAX_BULK_LETTERS, MAX_BULK_PER_SECOND, MAX_REASON_CHARS } from '../domain/limits.js';
import { SESSION_STATES, UNDO_STATES } from '../domain/states.js';
import { anyJson, jsonString, type RequestBody } from './json-member.js';
import { pageQuery } from './paging.js';
import { instant, nameText, sessionIdText, timestamp, uuid, uuidText } from './text.js';

export const DEAD_LETTER_STATES = ['open', 'closed'] as const;

const codeText = nameText('The code of the broken entry, such as `http_400`.');

export const listDeadLettersQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(DEAD_LETTER_STATES).optional(),
  session_id: sessionIdText.optional(),
  agent_name: nameText('Of the session.').optional(),
  fn_name: nameText('Of the compensation that broke.').optional(),
  host: nameText('Scheme, name and port that it calls, such as `https://hotels.example`.').optional(),
  code: codeText.optional(),
  halted_before: instant.optional(),
  halted_after: instant.optional(),
});

const entryRef = z.object({ undo_id: uuid, stack_position: z.int(), state: z.enum(UNDO_STATES) });

export const deadLetterView = z
  .object({
    dead_letter_id: uuid,
    session_id: z.string(),
    agent_name: z.string().nullable(),
    state: z.enum(DEAD_LETTER_STATES),
    version: z.int().meta({ description: 'Raised by every change; also the ETag, for `If-Match`.' }),
    undo_id: uuid.nullable().meta({ description: 'The broken entry; null: a child session is halted.' }),
    child_session_id: z.string().nullable(),
    stack_position: z.int().nullable(),
    fn_name: z.string().nullable().meta({ description: 'The compensation that broke.' }),
    fn_version: z.string().nullable(),
    code: z.string().nullable(),
    attempts: z.int(),
    last_attempt: z
      .object({
        at: timestamp,
        status: z.int().nullable(),
        outcome: z.string().nullable(),
        error: z.string().nullable(),
      })
      .nullable(),
    broken: z.array(entryRef).meta({ description: 'Entries that need a person.' }),
    not_undone: z.array(entryRef).meta({ description: 'Entries that wait behind them.' }),
    halted_at: timestamp,
    closed: z
      .object({
        at: timestamp,
        by: z.string().meta({ description: "A key's id." }),
        as: z.enum(['retry', 'skip', 'resolve', 'confirm', 'rollback_abandoned']),
        reason: anyJson('As it was given.').nullable(),
        evidence: anyJson('As it was given.').nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'DeadLetter' });

const reason = jsonString(MAX_REASON_CHARS, 'Why, in words for people.').refine(
  (json) => json.text.length > 2,
  'must not be empty',
);

const retry = z
  .strictObject({
    undo_id: uuidText.optional().meta({ description: 'A broken entry; by default the highest.' }),
    args: anyJson('In place of those that were registered, with the same references.').optional(),
    version: nameText('Another version of the same compensation.').optional(),
    reason: reason.optional(),
  })
  .meta({ id: 'RetryDeadLetter' });

export const retryBody = { schema: retry, raw: { args: true, reason: true } } satisfies RequestBody;

const skip = z
  .strictObject({
    reason,
    undo_id: uuidText
      .optional()
      .meta({ description: 'An entry that is not settled; by default the highest broken one.' }),
  })
  .meta({ id: 'SkipDeadLetter' });

export const skipBody = { schema: skip, raw: { reason: true } } satisfies RequestBody;

const resolve = z
  .strictObject({ reason, evidence: anyJson('Where it can be seen that things are right.').optional() })
  .meta({ id: 'ResolveDeadLetter' });

export const resolveBody = { schema: resolve, raw: { reason: true, evidence: true } } satisfies RequestBody;

export const BULK_ACTIONS = ['retry', 'skip', 'resolve'] as const;

const bulk = z
  .strictObject({
    action: z.enum(BULK_ACTIONS),
    filter: z
      .strictObject({
        session_ids: z.array(sessionIdText).min(1).max(MAX_BULK_LETTERS).optional(),
        agent_name: nameText('Of the session.').optional(),
        fn_name: nameText('Of the compensation that broke.').optional(),
        code: codeText.optional(),
      })
      .refine((filter) => Object.values(filter).some((value) => value !== undefined), 'must name something'),
    reason: reason.optional().meta({ description: 'Needed by `skip` and `resolve`.' }),
    dry_run: z.boolean().default(false).meta({ description: 'Only count.' }),
    limit: z.int().min(1).max(MAX_BULK_LETTERS).default(MAX_BULK_LETTERS),
    per_second: z
      .number()
      .positive()
      .max(MAX_BULK_PER_SECOND)
      .optional()
      .meta({ description: 'Of `retry`: how many of these undos may be called each second.' }),
    halted_before: instant
      .optional()
      .meta({ description: 'The `as_of` of the answer before: letters that came since are left alone.' }),
  })
  .refine((body) => body.action === 'retry' || body.reason !== undefined, {
    path: ['reason'],
    error: 'must be given',
  })
  .refine((body) => body.action === 'retry' || body.per_second === undefined, {
    path: ['per_second'],
    error: 'belongs to retry only',
  })
  .meta({ id: 'BulkDeadLetters' });

export const bulkBody = { schema: bulk, raw: { reason: true } } satisfies RequestBody;

export const resumedSession = z
  .object({ session_id: z.string(), state: z.enum(SESSION_STATES) })
  .meta({ id: 'ResumedSession' });

export const bulkAnswer = z
  .object({
    matched: z.int().meta({ description: 'Open letters that the filter picks.' }),
    applied: z.int().optional().meta({ description: 'Done by this request.' }),
    refused: z
      .array(z.object({ dead_letter_id: uuid, code: z.string() }))
      .optional()
      .meta({ description: 'Looked at and left as they were.' }),
    remaining: z.int().optional().meta({ description: 'Not looked at: send the request again, with `halted_before`.' }),
    as_of: timestamp.optional(),
  })
  .meta({ id: 'BulkAnswer' });

export const confirmAnswer = z
  .object({ confirmed: z.boolean(), state: z.enum(SESSION_STATES) })
  .meta({ id: 'ConfirmAnswer' });
