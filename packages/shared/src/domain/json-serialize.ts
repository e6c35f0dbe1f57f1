import { JsonText } from './json-text.js';

/** The characters that `JSON.stringify` escapes: a string without them is quoted as it is. */
// oxlint-disable-next-line no-control-regex -- control characters are what must be found here.
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/**
 * Like `JSON.stringify(value)`, but a `JsonText` anywhere in it is put in letter by letter. Members that are undefined
 * are dropped, `toJSON` is honoured, what has no JSON form is `null`; a bigint throws a TypeError.
 */
export function stringifyWithText(value: unknown): string {
  return write(value, '') ?? 'null';
}

function write(input: unknown, key: string): string | undefined {
  const value = hasToJson(input) ? input.toJSON(key) : input;
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      throw new TypeError('a bigint has no JSON form');
    case 'object':
      return value === null ? 'null' : writeObject(value);
    default:
      // Undefined, functions and symbols.
      return undefined;
  }
}

function writeObject(value: object): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) {
    // Array.from visits the holes of a sparse array too.
    return `[${Array.from(value, (item: unknown, index) => write(item, String(index)) ?? 'null').join(',')}]`;
  }
  let text = '';
  for (const [key, member] of Object.entries(value)) {
    const written = write(member, key);
    if (written !== undefined) text += `${text === '' ? '' : ','}${quote(key)}:${written}`;
  }
  return `{${text}}`;
}

function quote(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}
