import { groupBy, judge, sessionOf, type Evidence, type Finding, type Invariant } from './evidence.js';

const SAME_MOMENT_MS = 1000;

/** Each way out of `halted` has an act of a person before it; an act that is sent twice is one. */
function checkSticky({ history, moves }: Evidence): Finding {
  const acts = groupBy(
    history.filter(({ event }) => event === 'acting'),
    ({ org, session }) => `${org} ${session}`,
  );
  const left = moves.filter(({ thing, from_state: from }) => thing === 'session' && from === 'halted');
  return judge([...groupBy(left, ({ org_id: org, id }) => `${org} ${id}`)], ([session, own]) => {
    const known = acts.get(session) ?? [];
    const unasked = own.findIndex(({ at_ms: atMs }, n) => (known[n]?.atMs ?? Infinity) > atMs + SAME_MOMENT_MS);
    return unasked < 0 ? undefined : `${session} left halted for the ${unasked + 1}. time, and no person had acted`;
  });
}

/** But for what a rollback has undone before. */
function checkCompleted({ calls, entries, history, sessions }: Evidence): Finding {
  const completed = new Set(sessions.filter(({ state }) => state === 'completed').map(sessionOf));
  const positions = new Map(entries.map((entry) => [`undo-${entry.undo_id}`, entry.stack_position]));
  const rolledBack = new Map(
    history
      .filter(({ event }) => event === 'rolling_back')
      .map((line) => [`${line.org} ${line.session}`, line.position]),
  );
  const undos = calls.filter(({ kind, org, session }) => kind === 'undo' && completed.has(`${org} ${session}`));
  const wrong = judge(undos, ({ key, org, session }) => {
    const to = rolledBack.get(`${org} ${session}`);
    return to !== undefined && (positions.get(key) ?? -1) > to
      ? undefined
      : `${session} is completed, and ${key} was called`;
  });
  return { looked: completed.size, violations: wrong.violations };
}

export const HALTS: readonly Invariant[] = [
  { name: 'I8', promise: 'halted stays until a person acts', check: checkSticky },
  { name: 'I9', promise: 'a completed session gets no compensation', check: checkCompleted },
];
