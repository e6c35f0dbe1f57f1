import {
  groupBy,
  judge,
  sessionOf,
  together,
  type EntryRow,
  type Evidence,
  type Finding,
  type Invariant,
  type VendorCall,
} from './evidence.js';

const SETTLES_WITHIN_MS = 60_000;
const ENDED = new Set(['completed', 'compensated', 'halted', 'resolved']);
const BY_THE_PRODUCT = new Set(['"effect_absent"', '"not_applied"', '"irreversible"']);

/** A person took it off the list, for a reason that they gave. */
function skippedByPerson(entry: EntryRow | undefined): boolean {
  return entry?.state === 'skipped' && !BY_THE_PRODUCT.has(entry.reason ?? '');
}

/** Made after its undo, by an agent that then told nobody: nothing can know of it. */
function landedUnheard({ line, effect }: VendorCall, undos: readonly VendorCall[], told: ReadonlySet<string>): boolean {
  return !told.has(effect ?? '') && undos.some((undo) => undo.effect === effect && undo.line < line);
}

function checkUndone(evidence: Evidence): Finding {
  const { calls, entries, history, letters, sessions } = evidence;
  const bookings = groupBy(
    calls.filter(({ kind }) => kind === 'book'),
    ({ org, session }) => `${org} ${session}`,
  );
  const undos = groupBy(
    calls.filter(({ kind }) => kind === 'undo'),
    ({ org, session }) => `${org} ${session}`,
  );
  const last = new Map(
    entries.filter((entry) => entry.superseded_by === null).map((entry) => [entry.effect_id, entry]),
  );
  const told = new Set(history.filter(({ event }) => event.startsWith('committed')).map(({ effect }) => effect));
  const open = new Set(letters.filter(({ state, code }) => state === 'open' && code !== '').map(sessionOf));
  return together(
    judge(
      sessions.filter(({ state }) => state === 'halted'),
      (session) =>
        open.has(sessionOf(session)) ? undefined : `${session.session_id} is halted, and no open dead letter says why`,
    ),
    ...sessions
      .filter(({ state }) => state === 'compensated')
      .map((session) => {
        const own = undos.get(sessionOf(session)) ?? [];
        const cancelled = new Set(own.filter((call) => call.decided?.applied).map(({ ref }) => ref));
        return judge(bookings.get(sessionOf(session)) ?? [], (booking) => {
          if (!booking.decided?.applied || cancelled.has(booking.ref)) return undefined;
          if (skippedByPerson(last.get(booking.effect ?? '')) || landedUnheard(booking, own, told)) return undefined;
          return `${session.session_id} is compensated, and ${booking.ref} stands at the vendor`;
        });
      }),
  );
}

function checkSettled({ history, run, sessions }: Evidence): Finding {
  const settled = history.findLast(({ event }) => event === 'settled');
  const late = settled === undefined || settled.atMs - run.healedAtMs > SETTLES_WITHIN_MS;
  return together(
    judge(sessions, ({ session_id: id, state }) => (ENDED.has(state) ? undefined : `${id} is still ${state}`)),
    { looked: 1, violations: late ? ['the sessions had not ended 60 s after the last fault'] : [] },
  );
}

const LEAST_SHARE = 0.95;

/** A run in which little happened proves nothing. */
function checkProgress({ run, sessions }: Evidence): Finding {
  const ended = sessions.filter(({ state }) => ENDED.has(state)).length;
  const violations = [];
  if (ended < run.plannedSessions * LEAST_SHARE) violations.push(`${ended} of ${run.plannedSessions} sessions ended`);
  if (Object.keys(run.faults).length === 0) violations.push('no fault was hit');
  return { looked: run.plannedSessions, violations };
}

export const ENDINGS: readonly Invariant[] = [
  { name: 'I6', promise: 'a session that failed is undone at the vendor, or halted with a reason', check: checkUndone },
  { name: 'I7', promise: 'every session has ended or halted 60 s after the last fault', check: checkSettled },
  { name: 'P', promise: 'at least 95 % of the sessions ended, and faults were hit', check: checkProgress },
];
