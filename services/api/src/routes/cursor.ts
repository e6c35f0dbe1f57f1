import { isRealTime } from '@undolog/shared/runtime/clock';
import { SESSION_ID_PATTERN, UUID_PATTERN } from '@undolog/shared/wire/text';
import { refuse, type Reply } from '../reply.js';

/**
 * A cursor is where the page before ended: the values of its last row that the list is ordered by. It is opaque to
 * clients, so that the order may change without breaking them.
 */
export function writeCursor(values: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(values), 'utf8').toString('base64url');
}

type Test = (value: string) => boolean;

const FAULT = { errors: [{ path: '/cursor', message: 'was not made by this API' }] };

/**
 * @param tests what each value of the cursor must be like.
 * @returns undefined values when there is no cursor.
 */
export function readCursor<T extends readonly Test[]>(
  cursor: string | undefined,
  ...tests: T
): { readonly values: { readonly [I in keyof T]: string } | undefined } | { readonly refused: Reply } {
  if (cursor === undefined) return { values: undefined };
  const values = decode(cursor);
  const good = values?.length === tests.length && tests.every((test, at) => test(values[at]!));
  if (!good) return { refused: refuse('invalid_cursor', undefined, FAULT) };
  return { values: values as unknown as { readonly [I in keyof T]: string } };
}

function decode(cursor: string): string[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(values) ? values.map(String) : undefined;
  } catch {
    return undefined;
  }
}

const TIMESTAMP_PATTERN = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

export const isTimestamp: Test = (value) => TIMESTAMP_PATTERN.test(value) && isRealTime(value);
export const isUuid: Test = (value) => UUID_PATTERN.test(value);
export const isSessionId: Test = (value) => SESSION_ID_PATTERN.test(value);
export const isCount: Test = (value) => /^\d{1,15}$/.test(value);

/** Cuts a page that was read with one row too many, which tells that another page follows. */
export function cutPage<T>(rows: readonly T[], limit: number, keyOf: (last: T) => (string | number)[]) {
  const data = rows.slice(0, limit);
  const last = rows.length > limit ? data.at(-1) : undefined;
  return { data, next_cursor: last === undefined ? null : writeCursor(keyOf(last)) };
}
