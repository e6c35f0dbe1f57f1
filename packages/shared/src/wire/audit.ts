import { z } from 'zod';
import { ROLES } from '../domain/roles.js';
import { anyJson } from './json-member.js';
import { pageQuery } from './paging.js';
import { instant, nameText, sessionIdText, timestamp, uuid, uuidText } from './text.js';

export const listAuditQuery = z.strictObject({
  ...pageQuery,
  session_id: sessionIdText.optional(),
  undo_id: uuidText.optional(),
  actor: nameText("A key's id, or `undolog`.").optional(),
  action: nameText('Such as `session.failed`.').optional(),
  since: instant.optional(),
  until: instant.optional(),
});

export const auditView = z
  .object({
    seq: z.int(),
    at: timestamp,
    actor: z.string().meta({ description: "A key's id, or `undolog`." }),
    actor_name: z.string().nullable().meta({ description: 'What the key is called.' }),
    actor_role: z.enum(ROLES).nullable(),
    action: z.string(),
    session_id: z.string().nullable(),
    undo_id: uuid.nullable(),
    fn_name: z.string().nullable().meta({ description: 'Of what concerns a compensation as a whole.' }),
    before: z.string().nullable().meta({ description: 'The state that was told of the same thing before.' }),
    after: z.string().nullable().meta({ description: 'Its state since, where the entry tells of a move.' }),
    reason: anyJson('As it was given.').nullable(),
    reason_erased: z.boolean().meta({ description: 'There was a reason, and its words were erased.' }),
  })
  .meta({ id: 'AuditEntry' });

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);

export const listSealsQuery = z.strictObject({
  ...pageQuery,
  number: wholeNumber.optional().meta({ type: 'integer', description: 'Only this one.' }),
});

export const verifyAuditQuery = z.strictObject({
  after: wholeNumber.default(0).meta({
    type: 'integer',
    default: 0,
    description: 'The number of a seal that was proved already; `next` of the answer before.',
  }),
});

export const sealView = z
  .object({
    number: z.int().meta({ description: 'From 1, without gaps.' }),
    entries: z.int(),
    hash: z.string().meta({ description: 'SHA-256 over the seal before, this number and these entries; hexadecimal.' }),
    sealed_at: timestamp,
  })
  .meta({ id: 'AuditSeal' });

export const verifiedAudit = z
  .object({
    ok: z.boolean(),
    seals: z.int().meta({ description: 'Proved by this request.' }),
    entries: z.int().meta({ description: 'That they hold.' }),
    sealed_through: sealView.nullable().meta({ description: 'The last one that was proved.' }),
    first_fault: z
      .object({ seal: z.int(), kind: z.enum(['missing', 'entries', 'altered']) })
      .nullable()
      .meta({ description: 'The first seal that is gone, or whose entries are not those that were sealed.' }),
    unsealed: z.int().meta({ description: 'Entries that wait for their seal, counted up to 10,000.' }),
    next: z.int().nullable().meta({ description: 'The `after` of the next request; null: that was all.' }),
  })
  .meta({ id: 'VerifiedAudit' });
