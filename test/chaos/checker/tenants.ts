import { judge, together, type Evidence, type Finding, type Invariant } from './evidence.js';

function checkOrgs({ calls, effects, entries, history }: Evidence): Finding {
  const orgOfEffect = new Map(effects.map((effect) => [effect.effect_id, effect.org_id]));
  const manners = new Map(entries.map((entry) => [`undo-${entry.undo_id}`, entry.fn_name]));
  return together(
    judge(
      calls.filter(({ kind }) => kind !== 'book'),
      (call) => {
        if (call.kind === 'trap') return 'an address was called that nobody had registered';
        if (orgOfEffect.get(call.effect ?? '') !== call.org) return `${call.key} was called at another org's address`;
        if (call.token?.endsWith(call.org) !== true) return `${call.key} was called with another org's secret`;
        return call.kind === 'undo' && manners.get(call.key) !== call.name
          ? `${call.key} was called as ${call.name}`
          : undefined;
      },
    ),
    judge(
      history.filter(({ event }) => event === 'snooped'),
      ({ org, seen }) => (seen ? `${org} could read another org's dead letter` : undefined),
    ),
  );
}

function checkCanaries({ leaks, run }: Evidence): Finding {
  return { looked: run.canaries.length, violations: leaks };
}

export const TENANTS: readonly Invariant[] = [
  { name: 'I10', promise: "no org meets another's keys, rows, secrets or addresses", check: checkOrgs },
  { name: 'I13', promise: 'no secret is in logs, Redis, metrics, pages or tables', check: checkCanaries },
];
