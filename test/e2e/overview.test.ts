import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompensationOutcomes, Overview, Page, Session } from '@undolog/client';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

let world: World;
let org: Org;
beforeAll(async () => {
  world = await openWorld({ name: 'overview' });
  org = await world.newOrg();
});
afterAll(() => world.close());

describe('the overview', () => {
  it('of an org that has done nothing is whole, and empty', async () => {
    const empty = await world.newOrg();
    const overview = await empty.get<Overview>('/v1/overview');
    expect(overview).toMatchObject({
      hours: 24,
      states: { active: 0, failed: 0, compensating: 0, halted: 0 },
      unwind: { count: 0, p50_ms: null },
      dead_letters: { open: 0, oldest_halted_at: null, by_code: [] },
      breakers: [],
      paused: [],
      sampled: false,
    });
    expect(overview.buckets).toHaveLength(48);
  });

  it('counts what happened, what stands, and what is not called', async () => {
    const [done, undone, broken, open] = [await org.open(), await org.open(), await org.open(), await org.open()];
    await done.book('/fine');
    expect((await org.post(`/v1/sessions/${done.id}/complete`, {})).status).toBe(200);
    await undone.book('/fine');
    await undone.fail();
    await undone.reaches('compensated');
    world.vendor.script('/refused', { status: 422 });
    await broken.book('/refused', {}, { fn_name: await org.compensation('/refused', { retry: { max_retries: 0 } }) });
    await broken.fail();
    await broken.reaches('halted');
    await open.book('/fine');
    const paused = await org.compensation('/paused');
    await org.post(`/v1/compensations/${encodeURIComponent(paused)}/pause`, { reason: 'their night' });

    const overview = await org.get<Overview>('/v1/overview?hours=1');
    expect(overview.states).toEqual({ active: 1, failed: 0, compensating: 0, halted: 1 });
    const sum = (name: 'opened' | 'completed' | 'compensated' | 'halted'): number =>
      overview.buckets.reduce((total, bucket) => total + bucket[name], 0);
    expect([sum('opened'), sum('completed'), sum('compensated'), sum('halted')]).toEqual([4, 1, 1, 1]);
    expect(overview.buckets.at(-1)!.opened + overview.buckets.at(-2)!.opened).toBe(4);
    expect(overview.unwind.count).toBe(1);
    expect(overview.unwind.histogram.reduce((total, { count }) => total + count, 0)).toBe(1);
    expect(overview.dead_letters).toMatchObject({ open: 1, by_code: [{ code: 'http_422', count: 1 }] });
    expect(overview.dead_letters.by_age[0]).toEqual({ up_to_seconds: 300, count: 1 });
    expect(overview.paused).toEqual([{ fn_name: paused, pause_reason: 'their night' }]);
  });

  it('counts how the undos of each compensation ended', async () => {
    const { data, sampled } = await org.get<{ data: CompensationOutcomes[]; sampled: boolean }>(
      '/v1/compensations/outcomes?hours=1',
    );
    expect(sampled).toBe(false);
    const total = (end: 'compensated' | 'failed'): number => data.reduce((sum, one) => sum + one[end], 0);
    expect([total('compensated'), total('failed')]).toEqual([1, 1]);
  });

  it('looks back an hour, a day or a week, and no other time', async () => {
    expect((await org.request('GET', '/v1/overview?hours=2')).status).toBe(400);
    expect((await org.get<Overview>('/v1/overview?hours=168')).buckets).toHaveLength(56);
  });
});

describe('sessions are found by', () => {
  const found = async (query: string, of: Org = org): Promise<Session[]> =>
    (await of.get<Page<Session>>(`/v1/sessions?${query}`)).data;

  it('several states at once', async () => {
    const states = async (query: string): Promise<string[]> =>
      (await found(query)).map(({ state }) => state).toSorted();
    expect(await states('state=halted')).toEqual(['halted']);
    expect(await states('state=failed,compensating')).toEqual([]);
    expect(await states('state=halted,compensated')).toEqual(['compensated', 'halted']);
    expect((await org.request('GET', '/v1/sessions?state=halted,asleep')).status).toBe(400);
  });

  it('the beginning of their id, in their own org alone', async () => {
    const other = await world.newOrg();
    for (const id of ['trip-1', 'trip-10', 'trip-2', 'tri']) await org.open({ session_id: id });
    await other.open({ session_id: 'trip-1' });
    const ids = (await found('session_id=trip-1')).map(({ session_id: id }) => id);
    expect(ids.toSorted()).toEqual(['trip-1', 'trip-10']);
    expect(await found('session_id=trip-1', other)).toHaveLength(1);
    const [first] = await found('session_id=trip-&limit=1');
    const { next_cursor: cursor } = await org.get<Page<Session>>('/v1/sessions?session_id=trip-&limit=1');
    const [second] = await found(`session_id=trip-&limit=1&cursor=${cursor}`);
    expect(new Set([first!.session_id, second!.session_id]).size).toBe(2);
  });

  it('their run, and when they were opened', async () => {
    await org.open({ session_id: 'of a run', external_run_id: 'run-7' });
    const [one, ...more] = await found('external_run_id=run-7');
    expect(more).toEqual([]);
    expect(one!.session_id).toBe('of a run');
    const at = encodeURIComponent(one!.created_at);
    expect(await found(`external_run_id=run-7&created_after=${at}`)).toEqual([]);
    expect(await found(`created_after=${at}`)).toEqual([]);
    expect((await found(`created_before=${at}`)).length).toBeGreaterThan(4);
    expect((await org.request('GET', '/v1/sessions?created_before=yesterday')).status).toBe(400);
  });
});
