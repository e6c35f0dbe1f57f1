import { groupBy, judge, together, type Evidence, type Finding, type Invariant } from './evidence.js';

function checkKeys(evidence: Evidence): Finding {
  const entries = new Map(evidence.entries.map((entry) => [`undo-${entry.undo_id}`, entry]));
  const undos = evidence.calls.filter(({ kind }) => kind === 'undo');
  const byKey = [...groupBy(undos, ({ org, key }) => `${org} ${key}`).values()];
  const byEffect = [...groupBy(undos, ({ org, ref }) => `${org} ${ref}`).values()];
  return together(
    judge(byKey, (calls) => {
      const { key, effect, session, body } = calls[0]!;
      const entry = entries.get(key);
      if (!entry) return `${key} is no entry's key`;
      if (entry.effect_id !== effect || entry.session_id !== session)
        return `${key} came with the ids of another entry`;
      if (calls.some((call) => call.body !== body)) return `${key} came with two bodies`;
      return calls.filter((call) => call.decided?.applied).length > 1 ? `${key} was applied twice` : undefined;
    }),
    judge(byEffect, (calls) =>
      calls.filter((call) => call.decided?.applied).length > 1 ? `${calls[0]!.ref} was undone twice` : undefined,
    ),
  );
}

/** Of the manners: what the product was told to take for a refusal. */
const FINAL = new Set([307, 422]);

/** A refusal that was written down ends the entry's round; only a person begins another one. */
function checkFinal({ attempts, entries, history }: Evidence): Finding {
  const sessions = new Map(entries.map((entry) => [entry.undo_id, `${entry.org_id} ${entry.session_id}`]));
  const acts = groupBy(
    history.filter(({ event }) => event === 'acting'),
    ({ org, session }) => `${org} ${session}`,
  );
  const refused = attempts.filter(({ status }) => status !== null && FINAL.has(status));
  const byNumber = new Map(attempts.map((one) => [`${one.undo_id} ${one.attempt}`, one]));
  return judge(refused, ({ undo_id: undo, attempt, at_ms: atMs, status }) => {
    const next = byNumber.get(`${undo} ${attempt + 1}`);
    if (!next) return undefined;
    const asked = acts.get(sessions.get(undo) ?? '')?.some((act) => act.atMs >= atMs && act.atMs <= next.at_ms);
    return asked ? undefined : `${undo} was called again after ${status}, and nobody had asked for it`;
  });
}

export const KEYS: readonly Invariant[] = [
  { name: 'I4', promise: 'one key and one body per entry, applied at most once', check: checkKeys },
  { name: 'I15', promise: 'what was refused for good is not called again by itself', check: checkFinal },
];
