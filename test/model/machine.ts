import { Unwind, type PlantedBug, type Verdict } from './unwind.js';
import {
  emptyWorld,
  isBroken,
  isWaiting,
  moveEffect,
  moveEntry,
  moveSession,
  newEntry,
  standing,
  supersede,
  type Effect,
  type Session,
  type World,
} from './world.js';

/** What can happen; `session` and `effect` are picks, taken modulo how many there are. */
export type Happening =
  | { readonly kind: 'open'; readonly policy: 'halt' | 'continue'; readonly parent: number | null }
  | { readonly kind: 'fail' | 'claim' | 'crash' | 'retry' | 'skip' | 'resolve'; readonly session: number }
  | { readonly kind: 'register'; readonly session: number; readonly at: number }
  | { readonly kind: 'complete'; readonly session: number; readonly leaveUnknown: boolean }
  | { readonly kind: 'rollback'; readonly session: number; readonly to: number }
  | { readonly kind: 'settle'; readonly session: number; readonly verdict: Verdict }
  | { readonly kind: 'commit'; readonly session: number; readonly effect: number }
  | { readonly kind: 'tool_failed'; readonly session: number; readonly effect: number; readonly unknown: boolean };

interface Claim {
  readonly undoId: number;
  readonly fence: number;
}

/**
 * The reference machine: the contract's rules for sessions, effects and undo entries, as plain code over plain data.
 * Cancel and lease expiry are `fail` to it, as they are to the contract.
 */
export class Machine {
  readonly world: World = emptyWorld();
  readonly #unwind: Unwind;
  /** What workers hold, per session; a worker whose claim was taken over still comes back with its verdict. */
  readonly #claims = new Map<number, Claim[]>();

  constructor(bug?: PlantedBug) {
    this.#unwind = new Unwind(this.world, bug);
  }

  apply(happening: Happening): void {
    this.world.now += 1;
    if (happening.kind === 'open') return this.#open(happening.policy, happening.parent);
    const { sessions } = this.world;
    const session = sessions[happening.session % Math.max(sessions.length, 1)];
    if (!session) return;
    switch (happening.kind) {
      case 'register':
        return this.#register(session, happening.at);
      case 'commit':
        return this.#withEffect(session, happening.effect, (effect) => this.#commit(session, effect));
      case 'tool_failed':
        return this.#withEffect(session, happening.effect, (effect) =>
          this.#toolFailed(session, effect, happening.unknown),
        );
      case 'fail':
        return this.#unwind.fail(session);
      case 'complete':
        return this.#complete(session, happening.leaveUnknown);
      case 'rollback':
        return this.#rollback(session, happening.to);
      case 'claim':
        return this.#claim(session);
      case 'crash':
        return this.#unwind.crash(session);
      case 'settle':
        return this.#settle(session.index, happening.verdict);
      case 'retry':
      case 'skip':
      case 'resolve':
        return this.#decide(session, happening.kind);
      default:
        happening satisfies never;
    }
  }

  /** Lets workers go on, each try done, until no session has one to make. */
  drain(): void {
    for (const { index } of this.world.sessions) while (this.#claims.get(index)?.length) this.#settle(index, 'unknown');
    for (let moved = true; moved;) {
      moved = false;
      for (const session of this.world.sessions) {
        this.world.now += 1;
        this.#unwind.crash(session);
        this.#claim(session);
        moved ||= (this.#claims.get(session.index)?.length ?? 0) > 0;
        this.#settle(session.index, 'done');
      }
    }
  }

  #open(policy: Session['policy'], parentPick: number | null): void {
    const { sessions } = this.world;
    const host = parentPick === null ? undefined : sessions[parentPick % Math.max(sessions.length, 1)];
    const parent = host?.state === 'active' ? { session: host.index, position: host.effects.length + 1 } : null;
    const index = sessions.length;
    sessions.push({
      index,
      policy,
      parent,
      state: 'active',
      rollbackTo: null,
      rollbackFrom: null,
      top: null,
      openLetters: 0,
      effects: [],
    });
  }

  /** At the index that the caller names, unless it is taken; then at the next one. */
  #register(session: Session, at: number): void {
    if (session.state !== 'active') return;
    const taken = session.effects.map(({ position }) => position);
    const position = taken.includes(at) ? Math.max(...taken) + 1 : at;
    const entries = [newEntry(this.world, 1, 'pending')];
    const unreported = { reportedUnknown: false, rolledBack: false, owed: false, committedAt: null };
    session.effects.push({ position, state: 'executing', ...unreported, entries });
  }

  #commit(session: Session, effect: Effect): void {
    if (effect.committedAt !== null) return;
    effect.committedAt = this.world.now;
    const inTime =
      session.state === 'active' || (session.rollbackTo !== null && !this.#unwind.inScope(session, effect));
    if (!inTime || effect.rolledBack) return this.#unwind.commitLate(session, effect);
    if (effect.state === 'failed') supersede(this.world, effect);
    else moveEntry(standing(effect), 'active');
    moveEffect(effect, 'committed');
  }

  #toolFailed(session: Session, effect: Effect, unknown: boolean): void {
    if (effect.state !== 'executing' || session.state === 'completed') return;
    if (unknown) effect.reportedUnknown = true;
    else {
      moveEffect(effect, 'failed');
      if (standing(effect).state === 'pending') moveEntry(standing(effect), 'skipped');
      this.#unwind.advance(session);
    }
  }

  #complete(session: Session, leaveUnknown: boolean): void {
    if (session.state !== 'active') return;
    const inFlight = session.effects.filter((effect) => effect.state === 'executing');
    if (inFlight.every((effect) => leaveUnknown && effect.reportedUnknown)) moveSession(session, 'completed');
  }

  #rollback(session: Session, to: number): void {
    if (session.state !== 'active') return;
    session.rollbackTo = to - 1;
    for (const effect of session.effects) effect.rolledBack ||= this.#unwind.inScope(session, effect);
    moveSession(session, 'compensating');
    this.#unwind.advance(session);
  }

  #claim(session: Session): void {
    const claim = this.#unwind.claim(session);
    if (claim) this.#claims.set(session.index, [...(this.#claims.get(session.index) ?? []), claim]);
  }

  /** The oldest worker that has not come back yet does so now. */
  #settle(index: number, verdict: Verdict): void {
    const claim = this.#claims.get(index)?.shift();
    if (claim) this.#unwind.settle(this.world.sessions[index]!, claim, verdict);
  }

  #decide(session: Session, decision: 'retry' | 'skip' | 'resolve'): void {
    if (session.state !== 'halted') return;
    if (decision === 'resolve') {
      for (const effect of session.effects) if (isWaiting(effect)) moveEntry(standing(effect), 'skipped');
      session.openLetters = 0;
      session.rollbackTo = null;
      session.rollbackFrom = null;
      return moveSession(session, 'resolved');
    }
    const broken = session.effects.filter(isBroken).toSorted((a, b) => b.position - a.position)[0];
    if (broken) moveEntry(standing(broken), decision === 'retry' ? 'running' : 'skipped');
    this.#unwind.resume(session);
  }

  #withEffect(session: Session, pick: number, act: (effect: Effect) => void): void {
    const effect = session.effects[pick % Math.max(session.effects.length, 1)];
    if (effect) act(effect);
  }
}
