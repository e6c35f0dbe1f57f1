import {
  isBroken,
  isWaiting,
  moveEffect,
  moveEntry,
  moveSession,
  standing,
  supersede,
  type Effect,
  type Session,
  type World,
} from './world.js';

/** Ways to break the machine on purpose; a suite that does not notice one of them proves nothing. */
export const PLANTED_BUGS = [
  'lifo_by_age',
  'no_fence_check',
  'lost_answer_is_done',
  'late_commit_forgotten',
  'halt_ignored',
  'completed_can_fail',
  'rollback_ignores_savepoint',
  'children_forgotten',
  'letter_left_open',
] as const;
export type PlantedBug = (typeof PLANTED_BUGS)[number];

export type Verdict = 'done' | 'refused' | 'unknown' | 'retry';

export const isUnwinding = (session: Session): boolean =>
  session.state === 'failed' || session.state === 'compensating';

/** The pure machine of an unwind: which entry is next, what a try's verdict makes of it, and how a session ends. */
export class Unwind {
  readonly world: World;
  readonly bug: PlantedBug | undefined;

  constructor(world: World, bug?: PlantedBug) {
    this.world = world;
    this.bug = bug;
  }

  inScope(session: Session, effect: Effect): boolean {
    if (this.bug === 'rollback_ignores_savepoint') return true;
    return effect.position > (session.rollbackTo ?? -1) && effect.position <= (session.rollbackFrom ?? Infinity);
  }

  /** Chooses what is next, or ends the session; to be asked after anything that may have settled its top entry. */
  advance(session: Session): void {
    if (!isUnwinding(session)) return;
    const top = session.effects.find((effect) => standing(effect).undoId === session.top);
    if (top && isWaiting(top)) return;
    session.top = null;
    if (top && isBroken(top) && session.policy === 'halt' && this.bug !== 'halt_ignored') return this.#halt(session);
    const next = this.#highestWaiting(session);
    const floor = next ? next.position : (session.rollbackTo ?? -1) + 1;
    const child = session.rollbackFrom === null ? this.#openChild(session, floor) : undefined;
    if (child) return this.#unwindChild(session, child);
    if (next) session.top = standing(next).undoId;
    else if (this.#brokenIn(session).length > 0) this.#halt(session);
    else this.#end(session);
  }

  /** A worker takes the top entry. @returns the fence, or undefined when there is nothing to take. */
  claim(session: Session): { undoId: number; fence: number } | undefined {
    if (!isUnwinding(session) || session.top === null) return undefined;
    const effect = session.effects.find((one) => standing(one).undoId === session.top);
    if (!effect || standing(effect).heldBy !== null) return undefined;
    const entry = standing(effect);
    if (session.state === 'failed') moveSession(session, 'compensating');
    if (entry.state !== 'running') moveEntry(entry, 'running');
    if (effect.state !== 'compensating') moveEffect(effect, 'compensating');
    const fence = ++this.world.lastId;
    entry.heldBy = fence;
    const { undoId } = entry;
    const place = { session: session.index, position: effect.position };
    this.world.calls.push({ ...place, undoId, fence, startedAt: this.world.now, done: false });
    return { undoId, fence };
  }

  /** The worker of a claim is gone; its try is unknown, and another worker may take the entry. */
  crash(session: Session): void {
    const entry = session.effects.map(standing).find((one) => one.heldBy !== null);
    if (!entry) return;
    entry.heldBy = null;
    entry.sawUnknown = true;
  }

  settle(session: Session, claim: { undoId: number; fence: number }, verdict: Verdict): void {
    const effect = session.effects.find((one) => standing(one).undoId === claim.undoId);
    const entry = effect && standing(effect);
    if (!entry || entry.state !== 'running') return;
    if (entry.heldBy !== claim.fence && this.bug !== 'no_fence_check') return;
    entry.heldBy = null;
    this.world.settlements.push({ session: session.index, ...claim, at: this.world.now });
    const call = this.world.calls.findLast((one) => one.undoId === entry.undoId)!;
    const seen = verdict === 'unknown' && this.bug === 'lost_answer_is_done' ? 'done' : verdict;
    call.done ||= verdict === 'done';
    entry.sawUnknown ||= verdict === 'unknown';
    if (seen === 'retry') return this.#replaceIfReported(session, effect);
    const state = seen === 'done' ? 'compensated' : seen === 'refused' && !entry.sawUnknown ? 'failed' : 'unconfirmed';
    moveEntry(entry, state);
    moveEffect(effect, state === 'compensated' ? 'compensated' : `compensation_${state}`);
    if (!entry.replaceAfterTry) return this.advance(session);
    this.#replaceIfReported(session, effect);
  }

  /** The success report of an effect whose session has left `active`. */
  commitLate(session: Session, effect: Effect): void {
    if (effect.state === 'executing' || effect.state === 'failed') moveEffect(effect, 'committed');
    const entry = standing(effect);
    if (entry.state === 'pending') return moveEntry(entry, 'active');
    if (entry.state === 'active' || this.bug === 'late_commit_forgotten') return;
    if (entry.heldBy !== null) entry.replaceAfterTry = true;
    else this.replace(session, effect);
  }

  /** Puts a new entry in the place of one that ran before its effect was known; sessions that ended well re-open. */
  replace(session: Session, effect: Effect): void {
    if (session.state === 'completed') effect.owed = true;
    if (session.state === 'completed' || session.state === 'resolved') return;
    supersede(this.world, effect);
    if (session.state === 'active') return this.#undoAlone(session, effect);
    if (session.state === 'halted') return;
    if (session.state === 'compensated') moveSession(session, 'compensating');
    this.letGoOfTop(session);
    this.advance(session);
  }

  /** What is next is to be chosen anew, unless a try is in flight; then once that is over. */
  letGoOfTop(session: Session): void {
    const top = session.effects.map(standing).find((entry) => entry.undoId === session.top);
    if (top === undefined || top.heldBy === null) session.top = null;
  }

  /** Ends an active session without success, whoever asked for it. */
  fail(session: Session): void {
    const rollingBack = session.rollbackTo !== null;
    if (session.state === 'completed' && this.bug === 'completed_can_fail') session.state = 'active';
    if (session.state === 'active') moveSession(session, 'failed');
    else if (rollingBack) {
      session.rollbackTo = null;
      session.rollbackFrom = null;
      if (session.state === 'halted') return;
      this.letGoOfTop(session);
    } else return;
    this.advance(session);
  }

  /** Goes on with a halted session after a person's decision, which has moved an entry. */
  resume(session: Session): void {
    if (this.bug !== 'letter_left_open') session.openLetters = 0;
    moveSession(session, 'compensating');
    session.top = null;
    this.advance(session);
  }

  #replaceIfReported(session: Session, effect: Effect): void {
    if (!standing(effect).replaceAfterTry) return;
    session.top = null;
    this.replace(session, effect);
  }

  #highestWaiting(session: Session): Effect | undefined {
    const waiting = session.effects.filter((effect) => isWaiting(effect) && this.inScope(session, effect));
    const order = this.bug === 'lifo_by_age' ? ageOf : positionOf;
    return waiting.toSorted((a, b) => order(b) - order(a))[0];
  }

  #brokenIn(session: Session): Effect[] {
    return session.effects.filter((effect) => isBroken(effect) && this.inScope(session, effect));
  }

  #halt(session: Session): void {
    if (session.state === 'failed') moveSession(session, 'compensating');
    moveSession(session, 'halted');
    session.openLetters += 1;
    this.#tellParent(session);
  }

  #end(session: Session): void {
    moveSession(session, session.rollbackTo === null ? 'compensated' : 'active');
    session.rollbackTo = null;
    session.rollbackFrom = null;
    if (session.state !== 'active') return this.#tellParent(session);
    const late = session.effects.find((effect) => effect.rolledBack && isWaiting(effect));
    if (late) this.#undoAlone(session, late);
  }

  /** An effect that was reported after a rollback had passed it: what stands above and below it stays. */
  #undoAlone(session: Session, effect: Effect): void {
    session.rollbackTo = effect.position - 1;
    session.rollbackFrom = effect.position;
    moveSession(session, 'compensating');
    this.advance(session);
  }

  /** The newest child, at this position or above, that has not been unwound. */
  #openChild(session: Session, position: number): Session | undefined {
    if (this.bug === 'children_forgotten') return undefined;
    return this.world.sessions
      .filter((one) => one.parent?.session === session.index && one.parent.position >= position)
      .filter((one) => one.state !== 'compensated' && one.state !== 'resolved')
      .toSorted((a, b) => b.parent!.position - a.parent!.position || b.index - a.index)[0];
  }

  /** Sets a child's unwind going; its end, which may come at once, lets the parent go on. */
  #unwindChild(session: Session, child: Session): void {
    // One that rolls back to a savepoint is unwound whole instead.
    if (child.state === 'active' || child.rollbackTo !== null) this.fail(child);
    if (child.state === 'halted' && isUnwinding(session)) return this.#halt(session);
    if (child.state !== 'completed') return;
    moveSession(child, 'compensating');
    for (const effect of child.effects) if (effect.owed) supersede(this.world, effect);
    this.advance(child);
  }

  #tellParent(session: Session): void {
    const parent = session.parent && this.world.sessions[session.parent.session];
    if (parent) this.advance(parent);
  }
}

const positionOf = (effect: Effect): number => effect.position;
const ageOf = (effect: Effect): number => effect.entries[0]!.undoId;
