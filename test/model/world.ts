import type { EffectState, SessionState, UndoState } from '@undolog/shared/domain/states';
import { EFFECT_TRANSITIONS, move, SESSION_TRANSITIONS, UNDO_TRANSITIONS } from '@undolog/shared/domain/states';

/**
 * The state that the reference machine works on: what Postgres keeps, without clocks, bytes and orgs. Every change of a
 * state goes through the transition tables, so that an illegal move throws.
 */
export interface Entry {
  readonly undoId: number;
  readonly generation: number;
  state: UndoState;
  supersededBy: number | null;
  /** The fence of the claim that holds it; null when nobody does. */
  heldBy: number | null;
  /** Some try of it has an outcome that nobody knows. */
  sawUnknown: boolean;
  /** Its effect was reported while a try was in flight: it is replaced once that try is over. */
  replaceAfterTry: boolean;
}

export interface Effect {
  readonly position: number;
  state: EffectState;
  reportedUnknown: boolean;
  /** A rollback has passed over it: a success report of it is late for ever. */
  rolledBack: boolean;
  /** Reported when its session was completed: should the session be undone after all, its old undo is not enough. */
  owed: boolean;
  /** When, by the number of the event, the caller reported success. */
  committedAt: number | null;
  /** In the order of their generations; the last one stands. */
  readonly entries: Entry[];
}

export interface Session {
  readonly index: number;
  readonly policy: 'halt' | 'continue';
  readonly parent: { readonly session: number; readonly position: number } | null;
  state: SessionState;
  rollbackTo: number | null;
  /** Of a rollback that undoes one late effect alone: its position. */
  rollbackFrom: number | null;
  top: number | null;
  openLetters: number;
  readonly effects: Effect[];
}

/** One POST, as the vendor's ledger would show it. */
export interface Call {
  readonly session: number;
  readonly position: number;
  readonly undoId: number;
  readonly fence: number;
  readonly startedAt: number;
  done: boolean;
}

/** A verdict that was written: by which claim, and when. */
export interface Settlement {
  readonly session: number;
  readonly undoId: number;
  readonly fence: number;
  readonly at: number;
}

export interface World {
  readonly sessions: Session[];
  readonly calls: Call[];
  readonly settlements: Settlement[];
  now: number;
  lastId: number;
}

export function emptyWorld(): World {
  return { sessions: [], calls: [], settlements: [], now: 0, lastId: 0 };
}

export const WAITING: readonly UndoState[] = ['pending', 'active', 'running'];
export const BROKEN: readonly UndoState[] = ['failed', 'unconfirmed'];

export const standing = (effect: Effect): Entry => effect.entries.at(-1)!;
export const isWaiting = (effect: Effect): boolean => WAITING.includes(standing(effect).state);
export const isBroken = (effect: Effect): boolean => BROKEN.includes(standing(effect).state);

export function moveSession(session: Session, to: SessionState): void {
  session.state = move('session', SESSION_TRANSITIONS, session.state, to);
}

export function moveEffect(effect: Effect, to: EffectState): void {
  effect.state = move('effect', EFFECT_TRANSITIONS, effect.state, to);
}

export function moveEntry(entry: Entry, to: UndoState): void {
  entry.state = move('undo', UNDO_TRANSITIONS, entry.state, to);
}

export function newEntry(world: World, generation: number, state: UndoState): Entry {
  const undoId = ++world.lastId;
  return { undoId, generation, state, supersededBy: null, heldBy: null, sawUnknown: false, replaceAfterTry: false };
}

/** Replaces the standing entry of an effect by a new one: another undo id, and so another key at the vendor. */
export function supersede(world: World, effect: Effect): void {
  const old = standing(effect);
  const successor = newEntry(world, old.generation + 1, 'active');
  old.supersededBy = successor.undoId;
  effect.entries.push(successor);
}
