import { groupBy, judge, type Evidence, type Finding, type Invariant } from './evidence.js';

/** Manners whose compensation has the vendor's record asked. */
const CONFIRMED = new Set(['accepted', 'confirmed', 'lying']);
const SAYS_DONE = new Set(['done', 'accepted']);

function checkProofs({ calls, entries }: Evidence): Finding {
  const answers = groupBy(
    calls.filter(({ kind }) => kind === 'undo'),
    ({ key }) => key,
  );
  const looks = groupBy(
    calls.filter(({ kind }) => kind === 'record'),
    ({ key }) => key,
  );
  return judge(
    entries.filter(({ state }) => state === 'compensated'),
    ({ undo_id: undo, fn_name: manner, proof }) => {
      const key = `undo-${undo}`;
      if (proof === 'confirmed') {
        const shown = looks.get(key)?.some(({ decided }) => decided?.says === 'cancelled');
        return shown ? undefined : `${undo} is compensated, and the record never showed it`;
      }
      if (CONFIRMED.has(manner ?? '')) return `${undo} is compensated without a look at the record`;
      const said = answers
        .get(key)
        ?.some(({ closed, decided }) => closed?.delivered && SAYS_DONE.has(decided?.says ?? ''));
      return said ? undefined : `${undo} is compensated, and the vendor never said so`;
    },
  );
}

const FIRST_UNDO_MS = 3000;

/** While nothing is broken, an unwind begins at once; the sweep would come later. */
function checkFirstUndo({ calls, history, run }: Evidence): Finding {
  const [from, to] = run.quietMs;
  const firsts = new Map(
    calls
      .filter(({ kind }) => kind === 'undo')
      .toReversed()
      .map((call) => [`${call.org} ${call.session}`, call.atMs]),
  );
  const registered = groupBy(
    history.filter(({ event }) => event === 'registered'),
    ({ org, session }) => `${org} ${session}`,
  );
  const plain = (name: string): boolean => registered.get(name)?.every(({ report }) => report === 'commits') ?? false;
  const failures = history.filter(
    ({ event, org, session, atMs }) =>
      event === 'failed' && atMs >= from && atMs + FIRST_UNDO_MS <= to && plain(`${org} ${session}`),
  );
  return judge(failures, ({ org, session, atMs }) => {
    const firstMs = firsts.get(`${org} ${session}`);
    return firstMs !== undefined && firstMs - atMs <= FIRST_UNDO_MS
      ? undefined
      : `${session} had to wait for the sweep`;
  });
}

export const PROOFS: readonly Invariant[] = [
  { name: 'I12', promise: 'compensated only with a done or a confirmation', check: checkProofs },
  { name: 'T', promise: 'while nothing is broken, the first undo leaves within 3 s', check: checkFirstUndo },
];
