import { z } from 'zod';
import type { RequestBody } from './json-member.js';
import { nameText, uuid } from './text.js';

const createOrg = z.strictObject({ name: nameText('What people call the org.') }).meta({ id: 'CreateOrg' });

export const createOrgBody = { schema: createOrg, raw: {} } satisfies RequestBody;

export const createdOrg = z
  .object({ org_id: uuid, api_key: z.string().meta({ description: 'Its first key, of role `admin`. Shown once.' }) })
  .meta({ id: 'CreatedOrg' });
