import type { UndoCode } from '@undolog/shared/domain/undo-codes';
import type { Settlement } from '@undolog/shared/domain/verdict';

/** The settlements that more than one step of an entry can come to. */

export const CONFIRMED: Settlement = { kind: 'settled', state: 'compensated', proof: 'confirmed' };
export const ANSWERED: Settlement = { kind: 'settled', state: 'compensated', proof: 'answered' };

/** The process goes before it could finish; the next worker goes on from what Postgres remembers. */
export const HANDED_OVER: Settlement = { kind: 'retry', delayMs: 1, code: 'stalled' };

export function unconfirmed(code: UndoCode): Settlement {
  return { kind: 'settled', state: 'unconfirmed', code };
}
