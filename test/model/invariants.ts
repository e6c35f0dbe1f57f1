import { isUnwinding } from './unwind.js';
import { isBroken, isWaiting, standing, type Effect, type Session, type World } from './world.js';

/** Throws the invariant's own sentence, for a property's counter-example to show. */
function must(holds: boolean, invariant: string, session: Session): void {
  if (!holds) throw new Error(`${invariant} (session ${session.index}, ${session.state})`);
}

/** What holds after every single happening. */
export function checkAlways(world: World): void {
  for (const session of world.sessions) {
    const entries = session.effects.map(standing);
    const held = entries.filter((entry) => entry.heldBy !== null);
    must(held.length <= 1, 'at most one undo of a session is in flight', session);
    must(
      held.every((entry) => entry.undoId === session.top),
      'only the top entry is in flight',
      session,
    );
    must(session.openLetters === (session.state === 'halted' ? 1 : 0), 'a halt has one open dead letter', session);
    must(
      entries.every((entry) => entry.state !== 'failed' || !entry.sawUnknown),
      'unknown is never folded into failed',
      session,
    );
    must(
      session.effects.every((effect) =>
        effect.entries.every((one) => (one.supersededBy === null) === (one === standing(effect))),
      ),
      'one entry stands per position',
      session,
    );
    if (isUnwinding(session)) checkUnwinding(session);
    if (session.state === 'compensated') checkCompensated(world, session);
  }
}

/** Strict LIFO, judged on first calls. A late report may bring back a higher entry once the top was called; it is next. */
function checkUnwinding(session: Session): void {
  const inScope = ({ position }: Effect): boolean =>
    position > (session.rollbackTo ?? -1) && position <= (session.rollbackFrom ?? Infinity);
  const goesOn =
    session.policy === 'continue' || !session.effects.some((effect) => isBroken(effect) && inScope(effect));
  must(goesOn, 'under halt, nothing goes on beside a broken entry', session);
  const top = session.effects.find((effect) => standing(effect).undoId === session.top);
  if (!top || standing(top).state === 'running') return;
  must(inScope(top), 'a rollback leaves what is at or below its savepoint', session);
  const above = session.effects.filter((effect) => effect.position > top.position && inScope(effect));
  must(!above.some(isWaiting), 'nothing above the top entry waits', session);
}

function checkCompensated(world: World, session: Session): void {
  must(!session.effects.some((effect) => isWaiting(effect) || isBroken(effect)), 'compensated means settled', session);
  for (const effect of session.effects) {
    if (effect.committedAt !== null) must(isUndone(world, effect), 'what was reported is undone after it was', session);
  }
}

/** A done call that began when the effect was known to stand, or a person who said that there is nothing to undo. */
function isUndone(world: World, effect: Effect): boolean {
  const { state, undoId } = standing(effect);
  if (state === 'skipped') return true;
  return world.calls.some((call) => call.undoId === undoId && call.done && effect.committedAt! <= call.startedAt);
}

/** What holds between two moments: words that are final stay. */
export function checkStep(before: ReadonlyMap<number, Session['state']>, world: World, kind: string): void {
  for (const session of world.sessions) {
    const was = before.get(session.index);
    if (was === session.state || was === undefined) continue;
    if (session.state === 'compensated') checkChildren(world, session);
    must(was !== 'resolved', 'resolved is final', session);
    must(was !== 'completed' || session.parent !== null, 'completed is final but for a parent that unwinds', session);
    must(was !== 'compensated' || kind === 'commit', 'compensated is final but for a late report', session);
    must(was !== 'halted' || ['retry', 'skip', 'resolve', 'fail'].includes(kind), 'a halt waits for a person', session);
  }
}

/** A late report may open a child again later; it is then undone on its own. */
function checkChildren(world: World, session: Session): void {
  const children = world.sessions.filter((one) => one.parent?.session === session.index);
  const settled = children.every(({ state }) => state === 'compensated' || state === 'resolved');
  must(settled, 'children are unwound before their parent is', session);
}

/** A verdict is written by the newest claim alone; a worker whose claim was taken over changes nothing. */
function checkSettlements(world: World): void {
  for (const { session, undoId, fence, at } of world.settlements) {
    const newest = world.calls.findLast((call) => call.undoId === undoId && call.startedAt <= at);
    must(newest?.fence === fence, 'only the newest claim settles', world.sessions[session]!);
  }
}

/** What holds once the workers have nothing left to do. */
export function checkDrained(world: World): void {
  checkSettlements(world);
  for (const session of world.sessions) must(!isUnwinding(session), 'every unwind ends or halts', session);
}
