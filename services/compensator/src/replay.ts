import { createHash } from 'node:crypto';
import type { Exchange } from '@undolog/shared/domain/verdict';
import type { UndoCall } from '@undolog/shared/vendor/compensation-call';

/** Bodies that a vendor sends with any error; that two are alike tells nothing. */
const EMPTY_BODIES = new Set(['', '{}', '[]', 'null', '""']);

/**
 * What is remembered of a 500, to know it again: one that is repeated to the byte was stored under the key, and would be
 * repeated for ever. The other 5xx speak of the moment (overloaded, behind a gateway that fails) and not of this call,
 * so vendors send them alike however often they try.
 *
 * @returns null for an answer that tells nothing when it is repeated.
 */
export function answerHash(exchange: Exchange, call: UndoCall): Buffer | null {
  if (exchange.kind !== 'answer' || exchange.status !== 500 || exchange.body === undefined) return null;
  if (EMPTY_BODIES.has(exchange.body.trim())) return null;
  return createHash('sha256').update(`${call.undoId} ${exchange.body}`).digest();
}

/**
 * Whether a call of unknown outcome was answered from the vendor's store: asking again under the same key is useless.
 * The vendor's own mark decides for every 5xx; without it, a 500 with the body of an earlier one, unless the compensation
 * lists 500 as one to be retried.
 */
export function isReplay(exchange: Exchange, call: UndoCall, kept: Buffer | null): boolean {
  if (exchange.kind !== 'answer' || exchange.status < 500) return false;
  if (exchange.replayed) return true;
  const hash = answerHash(exchange, call);
  return hash !== null && kept !== null && hash.equals(kept) && !call.spec.outcomes.retry.includes(500);
}
