import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alertRules, dashboardExpressions, read } from '../support/ops-files.js';
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

  /** The tables that say where each session stands, as they are in a backup. */
  const TABLES = ['sessions', 'undo_stack', 'effect_log', 'attempts', 'dead_letters'];

  async function takeBackup(): Promise<void> {
    const copies = TABLES.map((table) => `CREATE TABLE backup.${table} AS TABLE undolog_${table};`);
    await world.rows(`CREATE SCHEMA backup; ${copies.join('')}`);
  }

  /** The state of the backup again, with leases that ran out meanwhile, and then what the runbook has one do. */
  async function restoreBackup(restoredTo: Date): Promise<void> {
    const rows = TABLES.map(
      (table) => `DELETE FROM undolog_${table}; INSERT INTO undolog_${table} TABLE backup.${table};`,
    );
    await world.rows(`
      BEGIN; SET LOCAL session_replication_role = replica; ${rows.join('')}
      UPDATE undolog_sessions SET lease_expires_at = now() - interval '1 hour' WHERE state = 'active';
      COMMIT; DROP SCHEMA backup CASCADE`);
    const [, sql] = /^<!-- Run by a test\. -->\n+```sql\n(.*?)^```/ms.exec(await read('docs/runbook.md'))!;
    await world.rows(sql!.replaceAll(":'restored_to'", `'${restoredTo.toISOString()}'`));
  }

  it('has a way back from a backup that undoes nothing good, and nothing twice', async () => {
    const org = await world.newOrg();
    const confirm = {
      url: `${world.vendor.url}/record/{args.ref}`,
      done_when: { pointer: '/state', equals: 'cancelled' },
      budget_ms: 5000,
      interval_ms: 50,
    };
    const asked = await org.booked(['/asked'], { spec: { confirm } });
    const repeated = await org.booked(['/repeated']);
    const forgotten = await org.booked(['/forgotten'], { spec: { key_ttl_seconds: 60 } });
    const good = await org.booked(['/good']);
    const untouched = await org.booked(['/untouched'], { spec: { confirm } });
    await takeBackup();
    const failing = [asked, repeated, forgotten];
    for (const session of failing) await session.fail();
    for (const session of failing) await session.reaches('compensated');
    expect((await org.post(`${good.path}/complete`)).status).toBe(200);
    const calls = asked.undos().length;

    await Promise.all([world.api.stop(), world.compensator.stop()]);
    await restoreBackup(new Date(Date.now() - 120_000));
    await Promise.all([world.api.start(), world.compensator.start()]);
    await expect.poll(() => world.compensator.metric('undolog_swept_at_seconds')).toBeGreaterThan(0);
    expect((await good.view()).state).toBe('active');
    expect((await org.post(`${good.path}/complete`)).status).toBe(200);
    for (const session of [...failing, untouched]) await session.fail();

    await asked.reaches('compensated');
    expect(asked.undos()).toHaveLength(calls);
    await repeated.reaches('compensated');
    const undos = repeated.undos();
    expect([undos.length, new Set(undos.map(({ key }) => key)).size]).toEqual([2, 1]);
    expect(undos.filter(({ applied }) => applied)).toHaveLength(1);
    await forgotten.reaches('halted');
    expect((await org.deadLetters(forgotten.id)).map(({ code }) => code)).toEqual(['key_expired']);
    expect(forgotten.undos()).toHaveLength(1);
    // Another key would be a second undo.
    const corrected = await forgotten.act('retry', { args: { ref: 'another' } });
    expect([corrected.status, corrected.text]).toEqual([409, expect.stringContaining('outcome_unknown')]);
    // What was not called at all since is undone, once its record was asked.
    await untouched.reaches('compensated');
    expect(untouched.standing()).toEqual([]);
    expect(good.standing()).toHaveLength(1);
    expect(good.undos()).toEqual([]);
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
