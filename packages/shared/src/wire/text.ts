import { z } from 'zod';
import { MAX_NAME_CHARS, MAX_SESSION_ID_CHARS } from '../domain/limits.js';

/** Postgres keeps neither NUL nor half of a surrogate pair in a text column, and no name has a use for control characters. */
// oxlint-disable-next-line no-control-regex -- control characters are what must be found here.
const UNFIT_FOR_NAMES = /[\u0000-\u001f\u007f\p{Surrogate}]/u;

/** A name for people and machines to read: 1 to 200 characters without control characters. */
export function nameText(description: string) {
  return z
    .string()
    .min(1)
    .max(MAX_NAME_CHARS)
    .refine((text) => !UNFIT_FOR_NAMES.test(text), 'must be well-formed text without control characters')
    .meta({ description });
}

export const SESSION_ID_PATTERN = new RegExp(`^[\\x20-\\x7e]{1,${MAX_SESSION_ID_CHARS}}$`);

export const sessionIdText = z
  .string()
  .regex(SESSION_ID_PATTERN, `must be 1 to ${MAX_SESSION_ID_CHARS} printable ASCII characters`)
  .meta({ description: 'Unique in its org. The client may choose it; otherwise a UUIDv7.' });

export const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const timestamp = z.string().meta({ format: 'date-time', description: 'RFC 3339, UTC, with microseconds.' });

const TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/;

/** A time that a client gives. */
export const instant = z
  .string()
  .refine((text) => TIMESTAMP_PATTERN.test(text) && !Number.isNaN(Date.parse(text)), 'must be an RFC 3339 time')
  .meta({ format: 'date-time', description: 'RFC 3339.' });

export const uuid = z.string().meta({ format: 'uuid' });

/** A UUID that a client gives, in lower case. */
export const uuidText = uuid.regex(UUID_PATTERN, 'must be a UUID').toLowerCase();
