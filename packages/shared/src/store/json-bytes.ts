import { JsonText } from '../domain/json-text.js';

/** JSON text is kept as the bytes that came; these functions are the only way in and out of a bytea column. */
export function toBytes(json: JsonText): Buffer;
export function toBytes(json: JsonText | null): Buffer | null;
export function toBytes(json: JsonText | null): Buffer | null {
  return json === null ? null : Buffer.from(json.text, 'utf8');
}

export function fromBytes(bytes: Buffer): JsonText;
export function fromBytes(bytes: Buffer | null): JsonText | null;
export function fromBytes(bytes: Buffer | null): JsonText | null {
  return bytes === null ? null : new JsonText(bytes.toString('utf8'));
}

/** The bytes of a JSON string that we write ourselves, such as the reason `irreversible`. */
export function wordBytes(word: string): Buffer {
  return Buffer.from(JSON.stringify(word), 'utf8');
}
