import type { IncomingMessage } from 'node:http';
import { MAX_IDEMPOTENCY_KEY_CHARS } from '@undolog/shared/domain/limits';
import { refuse, type Reply } from '../reply.js';

const KEY_PATTERN = new RegExp(`^[\\x21-\\x7e]{1,${MAX_IDEMPOTENCY_KEY_CHARS}}$`);

/** The request's Idempotency-Key, if it has one; a header sent twice arrives joined by a blank and is refused. */
export function idempotencyKeyOf(request: IncomingMessage): { readonly key?: string; readonly refused?: Reply } {
  if (request.method !== 'POST') return {};
  const header = request.headers['idempotency-key'];
  if (header === undefined) return {};
  if (typeof header === 'string' && KEY_PATTERN.test(header)) return { key: header };
  return { refused: refuse('invalid_idempotency_key') };
}
