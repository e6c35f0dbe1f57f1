import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { MAX_ANSWER_BYTES } from '../domain/limits.js';

/** Nobody asked for these; but a vendor may compress whatever it likes, and a refusal behind it must not be missed. */
const DECODERS = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/**
 * The text of an answer's body, at most `MAX_ANSWER_BYTES` long.
 *
 * @param coding the Content-Encoding header.
 * @returns undefined for a body that is longer once unpacked, or that can't be unpacked: nothing can be read from it.
 */
export function answerText(chunks: readonly Buffer[], coding: string | undefined): string | undefined {
  const bytes = Buffer.concat(chunks);
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return withoutMark(bytes);
  const decode = DECODERS.get(name);
  if (!decode) return undefined;
  try {
    return withoutMark(decode(bytes, { maxOutputLength: MAX_ANSWER_BYTES }));
  } catch {
    return undefined;
  }
}

/** A byte order mark is no part of JSON, yet some vendors send one. */
function withoutMark(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
