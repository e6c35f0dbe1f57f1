import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alertRules, dashboardExpressions } from '../support/ops-files.js';
import { readPromql } from '../support/promql.js';
import type { ProductProcess } from '../support/product.js';
import { openWorld, type World } from '../support/world.js';

/** What Prometheus adds by itself. */
const OF_PROMETHEUS = new Set(['up', 'job', 'instance']);

/** The metrics of a scrape, each with the values of its labels. */
async function scrape(process: ProductProcess): Promise<Map<string, Map<string, Set<string>>>> {
  const text = await (await fetch(`${process.healthUrl}/metrics`)).text();
  const found = new Map<string, Map<string, Set<string>>>();
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (name === undefined) continue;
    const values = found.get(name) ?? new Map<string, Set<string>>();
    found.set(name, values);
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      values.set(label!, (values.get(label!) ?? new Set()).add(value!));
    }
  }
  return found;
}

describe('what is given to those who operate it', () => {
  let world: World;
  let live: Map<string, Map<string, Set<string>>>;
  beforeAll(async () => {
    world = await openWorld({ name: 'ops' });
    const org = await world.newOrg();
    const session = await org.booked(['/cancel']);
    await session.fail();
    await session.reaches('compensated');
    live = await scrape(world.api);
    for (const [name, labels] of await scrape(world.compensator)) {
      const known = live.get(name);
      if (!known) live.set(name, labels);
      for (const [label, values] of known ? labels : []) {
        known!.set(label, new Set([...(known!.get(label) ?? []), ...values]));
      }
    }
  });
  afterAll(() => world.close());

  /** What an expression asks for and no process has. */
  function missingFrom(expression: string): string[] {
    const { metrics, labels } = readPromql(expression);
    const missing = metrics.filter((name) => !live.has(name) && !OF_PROMETHEUS.has(name));
    for (const { label, values } of labels) {
      if (OF_PROMETHEUS.has(label)) continue;
      const shown = new Set(metrics.flatMap((name) => [...(live.get(name)?.get(label) ?? [])]));
      if (shown.size === 0) missing.push(label);
      // A pattern, such as that of the errors, need not have come up.
      missing.push(...values.filter((value) => !value.includes('.') && !shown.has(value)).map((v) => `${label}=${v}`));
    }
    return missing;
  }

  it('alerts on metrics, labels and values that the processes show', async () => {
    const rules = await alertRules();
    const missing = rules.map(({ alert, expr }) => [alert, missingFrom(expr)]);
    expect(missing.filter(([, names]) => names!.length > 0)).toEqual([]);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    // The test itself can fail.
    expect(missingFrom('sum by (colour) (undolog_registrations_totals{decision="later"})')).toEqual([
      'undolog_registrations_totals',
      'colour',
      'decision',
      'decision=later',
    ]);
    expect(() => readPromql('max(undolog_breakers_open')).toThrow('no PromQL');
  });

  it('has a dashboard of metrics, labels and values that the processes show', async () => {
    const { ids, expressions } = await dashboardExpressions();
    expect(expressions.length).toBeGreaterThan(20);
    expect(expressions.flatMap(missingFrom)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('says what keeps a process from its work, and how many of them live', async () => {
    expect(await world.api.metric('undolog_processes', 'role="compensator"')).toBe(1);
    expect(await world.api.metric('undolog_process_fault')).toBe(0);
    const last = await world.compensator.metric('undolog_swept_at_seconds');
    expect(Math.abs(Date.now() / 1000 - last)).toBeLessThan(30);
    await world.rows(
      'UPDATE undolog_processes SET queue_kind = CASE queue_kind WHEN $1 THEN $2 ELSE $1 END',
      'redis',
      'postgres',
    );
    expect(await world.api.metric('undolog_process_fault', 'fault="queue_mismatch"')).toBe(1);
  });
});
