import { groupBy, judge, sessionOf, together, type Evidence, type Finding, type Invariant } from './evidence.js';

/** The law of lifecycle.md once more, as the contract tells it. */
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  'session active': ['completed', 'failed', 'compensating'],
  'session failed': ['compensating', 'compensated'],
  'session compensating': ['compensated', 'halted', 'active'],
  'session halted': ['compensating', 'resolved'],
  'session compensated': ['compensating'],
  'session completed': ['compensating'],
  'effect pending': ['executing', 'failed', 'compensating'],
  'effect executing': ['committed', 'failed', 'compensating'],
  'effect committed': ['compensating'],
  'effect failed': ['committed'],
  'effect compensating': ['compensated', 'compensation_failed', 'compensation_unconfirmed'],
  'effect compensation_failed': ['compensating', 'compensated'],
  'effect compensation_unconfirmed': ['compensating', 'compensated'],
  'effect compensated': ['compensating'],
  'undo pending': ['active', 'running', 'skipped'],
  'undo active': ['running', 'skipped'],
  'undo running': ['compensated', 'failed', 'unconfirmed', 'skipped'],
  'undo failed': ['running', 'skipped', 'compensated'],
  'undo unconfirmed': ['running', 'skipped', 'compensated'],
};

function checkLegal({ moves }: Evidence): Finding {
  return judge(moves, ({ thing, id, from_state: from, to_state: to }) =>
    LEGAL[`${thing} ${from}`]?.includes(to) ? undefined : `${thing} ${id} went from ${from} to ${to}`,
  );
}

const SESSION_TOLD = /^session\.(completed|failed|compensating|compensated|halted|active|resolved)$/;
const UNDO_TOLD = /^undo\.(compensated|failed|unconfirmed|skipped)$/;
const SETTLED = new Set(['compensated', 'failed', 'unconfirmed', 'skipped']);

/** The audit log alone tells how everything ended. */
function checkReplay({ audit, entries, sessions }: Evidence): Finding {
  const sessionStates = new Map<string, string>();
  const undoStates = new Map<string, string>();
  for (const { action, org_id: org, session_id: session, undo_id: undo } of audit) {
    const [, state] = SESSION_TOLD.exec(action) ?? [];
    if (state !== undefined) sessionStates.set(`${org} ${session}`, state);
    const [, settled] = UNDO_TOLD.exec(action) ?? [];
    if (settled !== undefined) undoStates.set(undo!, settled);
  }
  return together(
    judge(sessions, (session) => {
      const told = sessionStates.get(sessionOf(session)) ?? 'active';
      return told === session.state
        ? undefined
        : `${session.session_id} is ${session.state}, and the audit log says ${told}`;
    }),
    judge(
      entries.filter(({ state }) => SETTLED.has(state)),
      ({ state, undo_id: undo }) => {
        const told = undoStates.get(undo);
        return told === state ? undefined : `${undo} is ${state}, and the audit log says ${told}`;
      },
    ),
  );
}

function checkChain({ seals, unsealed, audit }: Evidence): Finding {
  const byOrg = groupBy(seals, ({ org_id: org }) => org);
  const sealed = seals.reduce((sum, { entries }) => sum + entries, 0);
  return together(
    ...[...byOrg.values()].map((own) =>
      judge([...own.entries()], ([index, { number, entries, found, hash, made_again: again }]) => {
        if (number !== index + 1) return `seal ${index + 1} is missing`;
        if (entries !== found) return `seal ${number} holds ${entries} entries, and there are ${found}`;
        return hash === again ? undefined : `seal ${number} does not hold`;
      }),
    ),
    {
      looked: audit.length,
      violations:
        sealed + unsealed === audit.length && sealed > 0 ? [] : [`${sealed} of ${audit.length} entries are sealed`],
    },
  );
}

export const MOVES: readonly Invariant[] = [
  {
    name: 'I11',
    promise: 'only legal moves, and the audit log tells the same',
    check: (evidence) => together(checkLegal(evidence), checkReplay(evidence)),
  },
  { name: 'I14', promise: 'the chain of seals is whole', check: checkChain },
];
