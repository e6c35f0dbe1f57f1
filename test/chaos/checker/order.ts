import { groupBy, type Evidence, type Finding, type Invariant, type VendorCall } from './evidence.js';

/** The undo calls of each session by key: keys in the order of their first receipt, calls in theirs. */
function keysOfSessions({ calls }: Evidence): VendorCall[][][] {
  const undos = calls.filter(({ kind }) => kind === 'undo');
  const sessions = groupBy(undos, ({ org, session }) => `${org} ${session}`);
  return [...sessions.values()].map((own) => [...groupBy(own, ({ key }) => key).values()]);
}

/** Positions fall. An entry that took over from another one begins an unwind of its own. */
function checkOrder(evidence: Evidence): Finding {
  const entries = new Map(evidence.entries.map((entry) => [`undo-${entry.undo_id}`, entry]));
  const violations: string[] = [];
  const sessions = keysOfSessions(evidence);
  for (const keys of sessions) {
    let above = Infinity;
    for (const [first] of keys) {
      const entry = entries.get(first!.key);
      if (!entry || entry.generation > 1) continue;
      if (entry.stack_position >= above) {
        violations.push(`${first!.session}: position ${entry.stack_position} was called after ${above}`);
      }
      above = entry.stack_position;
    }
  }
  return { looked: sessions.length, violations };
}

/** When a key is called for the first time, the last call of the key before it must be over. */
function checkOneInFlight(evidence: Evidence): Finding {
  const violations: string[] = [];
  let looked = 0;
  for (const keys of keysOfSessions(evidence)) {
    for (const [index, calls] of keys.entries()) {
      const first = calls[0]!;
      const before = keys[index - 1]?.findLast(({ line }) => line < first.line);
      if (!before) continue;
      looked += 1;
      if (before.closed === undefined || before.closed.line > first.line) {
        violations.push(`${first.session}: ${first.key} was called while ${before.key} was in flight`);
      }
    }
  }
  return { looked, violations };
}

export const ORDER: readonly Invariant[] = [
  { name: 'I3', promise: 'a session is undone strictly from the top down', check: checkOrder },
  { name: 'I5', promise: 'one key is in flight per session', check: checkOneInFlight },
];
