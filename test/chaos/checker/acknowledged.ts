import {
  judge,
  sessionOf,
  together,
  type Evidence,
  type Finding,
  type HistoryLine,
  type Invariant,
} from './evidence.js';

/** The clocks are one, but what is timed lies between them. */
const SAME_MOMENT_MS = 1000;

function registrationFault(evidence: Evidence): (line: HistoryLine) => string | undefined {
  const entries = new Map(evidence.entries.map((entry) => [entry.undo_id, entry]));
  return (line) => {
    const entry = entries.get(line.undo);
    if (!entry) return `the registration of ${line.undo} (${line.session}) was acknowledged, and is lost`;
    const same =
      entry.org_id === line.org &&
      entry.session_id === line.session &&
      entry.effect_id === line.effect &&
      entry.stack_position === line.position;
    return same ? undefined : `${line.undo} is not what was acknowledged`;
  };
}

function reportFault(evidence: Evidence): (line: HistoryLine) => string | undefined {
  const effects = new Map(evidence.effects.map((effect) => [effect.effect_id, effect]));
  return ({ effect, event, outcome, state }) => {
    const row = effects.get(effect);
    if (event === 'committed')
      return row?.committed ? undefined : `the commit of ${effect} was acknowledged, and is lost`;
    // Of an effect that is being undone already, the report says nothing new.
    if (state !== 'executing' && state !== 'failed') return undefined;
    return row?.reported === outcome ? undefined : `the report "${outcome}" of ${effect} was acknowledged, and is lost`;
  };
}

function endingFault(evidence: Evidence): (line: HistoryLine) => string | undefined {
  const sessions = new Map(evidence.sessions.map((session) => [sessionOf(session), session]));
  return ({ org, session: id, event, atMs }) => {
    const session = sessions.get(`${org} ${id}`);
    if (!session) return `${id} was acknowledged as ${event}, and is lost`;
    if (event === 'completed')
      return session.state === 'completed' ? undefined : `${id} was completed, and is ${session.state}`;
    if (event !== 'failed') return undefined;
    const inTime = session.failed_ms !== null && session.failed_ms <= atMs + SAME_MOMENT_MS;
    return inTime ? undefined : `the failure of ${id} was acknowledged before it was committed`;
  };
}

function checkAcknowledged(evidence: Evidence): Finding {
  const { history } = evidence;
  return together(
    judge(
      history.filter(({ event }) => event === 'registered'),
      registrationFault(evidence),
    ),
    judge(
      history.filter(({ event }) => event === 'committed' || event === 'reported'),
      reportFault(evidence),
    ),
    judge(
      history.filter(({ event }) => ['opened', 'completed', 'failed'].includes(event)),
      endingFault(evidence),
    ),
  );
}

function checkBookings({ calls, effects, history }: Evidence): Finding {
  const told = new Map(history.filter(({ event }) => event === 'registered').map((line) => [line.key, line]));
  const executed = new Map(effects.map((effect) => [effect.effect_id, effect.executed_ms]));
  return judge(
    calls.filter(({ kind }) => kind === 'book'),
    ({ key, org, atMs }) => {
      const line = told.get(key);
      if (!line || line.org !== org || line.atMs > atMs) return `${key} was called before it was acknowledged`;
      const executedMs = executed.get(line.effect);
      return executedMs !== undefined && executedMs <= atMs + 1
        ? undefined
        : `${key} was called before it was committed`;
    },
  );
}

export const ACKNOWLEDGED: readonly Invariant[] = [
  { name: 'I1', promise: 'what was acknowledged is in Postgres', check: checkAcknowledged },
  { name: 'I2', promise: 'no effect at the vendor without an acknowledgement before it', check: checkBookings },
];
