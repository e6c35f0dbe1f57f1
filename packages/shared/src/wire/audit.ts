import { z } from 'zod';
import { anyJson } from './json-member.js';
import { pageQuery } from './paging.js';
import { sessionIdText, timestamp, uuid } from './text.js';

export const listAuditQuery = z.strictObject({ ...pageQuery, session_id: sessionIdText.optional() });

export const auditView = z
  .object({
    seq: z.int(),
    at: timestamp,
    actor: z.string().meta({ description: "A key's id, or `undolog`." }),
    action: z.string(),
    session_id: z.string().nullable(),
    undo_id: uuid.nullable(),
    fn_name: z.string().nullable().meta({ description: 'Of what concerns a compensation as a whole.' }),
    reason: anyJson('As it was given.').nullable(),
  })
  .meta({ id: 'AuditEntry' });
