import { z } from 'zod';
import { JsonText } from '../domain/json-text.js';

/**
 * Members that are kept as the JSON text that came (arguments, results, metadata, reasons). The reader of a body hands
 * them over as `JsonText`; which members those are stands beside each schema as `RawMembers`.
 */
export type RawMembers = { readonly [member: string]: true | RawMembers };

/** A request body: how it is checked, and which of its members stay text. */
export interface RequestBody<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  /** `whole`: the body is the handler's to read, from its node; the schema is for the documentation. */
  readonly raw: RawMembers | 'whole';
}

const ANY_JSON = ['object', 'array', 'string', 'number', 'boolean', 'null'];

const isJsonText = (value: unknown): value is JsonText => value instanceof JsonText;

/** Any JSON value. `description` is for the API's documentation. */
export function anyJson(description: string) {
  return z.custom<JsonText>(isJsonText, { error: 'must be JSON' }).meta({ type: ANY_JSON, description });
}

/** A JSON string of at most `maxChars` characters as written, NUL and lone surrogates included. */
export function jsonString(maxChars: number, description: string) {
  return z
    .custom<JsonText>((value) => isJsonText(value) && value.text.startsWith('"'), { error: 'must be a string' })
    .refine((json) => json.text.length <= maxChars + 2, `must be at most ${maxChars} characters`)
    .meta({ type: 'string', maxLength: maxChars, description });
}

/** A JSON string or object: how tools describe what went wrong. */
export function jsonStringOrObject(description: string) {
  return z
    .custom<JsonText>((value) => isJsonText(value) && /^["{]/.test(value.text), {
      error: 'must be a string or an object',
    })
    .meta({ type: ['string', 'object'], description });
}
