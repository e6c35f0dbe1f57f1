import { z } from 'zod';
import { MAX_HEADER_CHARS } from '../domain/limits.js';
import { isSecretName, isSecretValue, isSigningSecret } from '../domain/secret-rules.js';
import type { RequestBody } from './json-member.js';
import { timestamp } from './text.js';

/** As it stands in the address. */
export const secretName = z
  .string()
  .refine(isSecretName, 'must be 1 to 100 letters, digits, _, . or -, beginning with none of the last two');

const putSecret = z
  .strictObject({
    value: z
      .string()
      .max(MAX_HEADER_CHARS)
      .refine(isSecretValue, 'must be visible ASCII, with spaces only inside')
      .meta({ description: 'Sent as the value of a header. It can be replaced, and never read.' }),
  })
  .meta({ id: 'PutSecret' });

export const putSecretBody = { schema: putSecret, raw: {} } satisfies RequestBody;

const putSigningSecret = z
  .strictObject({
    secret: z
      .string()
      .refine(isSigningSecret, 'must be whsec_ and 24 to 64 bytes in base64')
      .meta({ description: 'As of Standard Webhooks. It can be replaced, and never read.' }),
  })
  .meta({ id: 'PutSigningSecret' });

export const putSigningSecretBody = { schema: putSigningSecret, raw: {} } satisfies RequestBody;

export const secretView = z.object({ name: z.string(), updated_at: timestamp }).meta({ id: 'Secret' });
