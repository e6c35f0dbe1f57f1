/**
 * The three state machines of UndoLog: session, effect and undo entry.
 *
 * Each table lists, for every state, the states that may follow it. Nothing else in the project decides whether a move
 * is legal; the CHECK constraints in `migrations` repeat the state names, and a test compares the two.
 */

export const SESSION_STATES = [
  'active',
  'completed',
  'failed',
  'compensating',
  'compensated',
  'halted',
  'resolved',
] as const;
export type SessionState = (typeof SESSION_STATES)[number];

export const EFFECT_STATES = [
  'pending',
  'executing',
  'committed',
  'failed',
  'compensating',
  'compensated',
  'compensation_failed',
  'compensation_unconfirmed',
] as const;
export type EffectState = (typeof EFFECT_STATES)[number];

export const UNDO_STATES = ['pending', 'active', 'running', 'compensated', 'failed', 'unconfirmed', 'skipped'] as const;
export type UndoState = (typeof UNDO_STATES)[number];

export type TransitionTable<S extends string> = { readonly [From in S]: readonly S[] };

export const SESSION_TRANSITIONS: TransitionTable<SessionState> = {
  // To compensating: a rollback to a savepoint.
  active: ['completed', 'failed', 'compensating'],
  // To compensated: there was nothing to undo, so it is compensated at once.
  failed: ['compensating', 'compensated'],
  // To active: a rollback that is done.
  compensating: ['compensated', 'halted', 'active'],
  halted: ['compensating', 'resolved'],
  // A late success report re-opens a session that was already undone.
  compensated: ['compensating'],
  // A completed child is undone when its parent unwinds.
  completed: ['compensating'],
  resolved: [],
};

export const EFFECT_TRANSITIONS: TransitionTable<EffectState> = {
  pending: ['executing', 'failed', 'compensating'],
  executing: ['committed', 'failed', 'compensating'],
  committed: ['compensating'],
  // A commit after `not_applied` is taken back while the session is active.
  failed: ['committed'],
  compensating: ['compensated', 'compensation_failed', 'compensation_unconfirmed'],
  // To compensated: a person had the vendor's record asked again, and it shows the undo.
  compensation_failed: ['compensating', 'compensated'],
  compensation_unconfirmed: ['compensating', 'compensated'],
  compensated: ['compensating'],
};

export const UNDO_TRANSITIONS: TransitionTable<UndoState> = {
  pending: ['active', 'running', 'skipped'],
  active: ['running', 'skipped'],
  running: ['compensated', 'failed', 'unconfirmed', 'skipped'],
  failed: ['running', 'skipped', 'compensated'],
  unconfirmed: ['running', 'skipped', 'compensated'],
  compensated: [],
  skipped: [],
};

/** A session in one of these states has an unwind under way. */
export const UNWINDING_SESSION_STATES = ['failed', 'compensating'] as const satisfies readonly SessionState[];

export class IllegalTransition extends Error {
  override readonly name = 'IllegalTransition';
  constructor(thing: string, from: string, to: string) {
    super(`${thing} can't move from ${from} to ${to}`);
  }
}

/**
 * Returns `to` when the table allows the move.
 *
 * @throws {IllegalTransition} naming both states; reaching it is a bug, never an expected outcome.
 */
export function move<S extends string>(thing: string, table: TransitionTable<S>, from: S, to: S): S {
  if (!table[from].includes(to)) throw new IllegalTransition(thing, from, to);
  return to;
}
