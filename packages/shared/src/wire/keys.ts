import { z } from 'zod';
import { ROLES } from '../domain/roles.js';
import type { RequestBody } from './json-member.js';
import { nameText, timestamp, uuid } from './text.js';

const createKey = z
  .strictObject({ role: z.enum(ROLES), name: nameText('What people call the key.').optional() })
  .meta({ id: 'CreateKey' });

export const createKeyBody = { schema: createKey, raw: {} } satisfies RequestBody;

export const createdKey = z
  .object({
    key_id: uuid,
    role: z.enum(ROLES),
    api_key: z.string().meta({ description: 'The secret. Shown once.' }),
  })
  .meta({ id: 'CreatedKey' });

export const keyView = z
  .object({
    key_id: uuid,
    role: z.enum(ROLES),
    name: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Key' });

export const callerView = keyView.extend({ org_id: uuid }).meta({ id: 'Caller' });
