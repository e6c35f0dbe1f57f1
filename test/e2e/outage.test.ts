import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentSession, Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

const SESSIONS = 8;
const DOWN = { status: 503 };

describe('a vendor that is down for every session', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ name: 'outage', compensators: 2 });
  });
  afterAll(() => world.close());

  async function failed(org: Org, path: string, sessions: number, spec: object = {}): Promise<AgentSession[]> {
    const all = await Promise.all(Array.from({ length: sessions }, () => org.booked([path, path], { spec })));
    await Promise.all(all.map((session) => session.fail()));
    return all;
  }

  const breakerOf = async (org: Org): Promise<{ state: string; since: string | null; retry_at: string | null }> => {
    const { data } = await org.get<{ data: { breaker: Awaited<ReturnType<typeof breakerOf>> }[] }>('/v1/compensations');
    return data[0]!.breaker;
  };

  it('halts none of them: they wait with their budgets, and once it is back all is undone in order', async () => {
    const org = await world.newOrg();
    world.vendor.always('/down', DOWN);
    const sessions = await failed(org, '/down', SESSIONS);
    const codes = async (): Promise<(string | null)[]> =>
      Promise.all(sessions.map(async (session) => (await session.stack())[0]!.code));
    await expect.poll(codes, { timeout: 10_000 }).toEqual(Array.from({ length: SESSIONS }, () => 'host_unavailable'));
    const open = await breakerOf(org);
    expect(['open', 'half_open']).toContain(open.state);
    expect(Date.parse(open.since!)).toBeLessThan(Date.parse(open.retry_at!));
    expect(await world.compensator.metric('undolog_breakers_open')).toBe(1);
    for (const session of sessions) {
      expect(await session.view()).toMatchObject({ state: 'compensating', undo_counts: { running: 1, active: 1 } });
    }
    // At least one entry was let through in vain, so more tries than any budget do not halt.
    const calls = world.vendor.ledger.at('/down').length;
    await expect.poll(() => world.vendor.ledger.at('/down').length, { timeout: 10_000 }).toBeGreaterThan(calls + 1);
    world.vendor.heal('/down');
    for (const session of sessions) await session.reaches('compensated');
    for (const session of sessions) expect([await session.faults(), session.standing()]).toEqual([[], []]);
    expect(await org.deadLetters()).toEqual([]);
    expect(await breakerOf(org)).toMatchObject({ state: 'closed', retry_at: null });
  });

  it('of one org keeps nobody of another org waiting', async () => {
    const [unlucky, lucky] = [await world.newOrg('unlucky'), await world.newOrg('lucky')];
    world.vendor.always('/down-for-one', DOWN);
    await failed(unlucky, '/down-for-one', SESSIONS);
    await expect.poll(() => breakerOf(unlucky).then(({ state }) => state), { timeout: 10_000 }).not.toBe('closed');
    const [session] = await failed(lucky, '/up', 1);
    await session!.reaches('compensated', 5000);
    expect(await breakerOf(lucky)).toEqual({ state: 'closed', since: null, retry_at: null });
    world.vendor.heal('/down-for-one');
  });

  it('halts each after its four calls where the compensation does not wait', async () => {
    const org = await world.newOrg();
    world.vendor.always('/impatient', DOWN);
    const sessions = await failed(org, '/impatient', SESSIONS, { wait_out_outages: false });
    for (const session of sessions) await session.reaches('halted');
    for (const session of sessions) expect(session.undos()).toHaveLength(4);
  });

  it('and fewer sessions than make an outage halt after their budgets', async () => {
    const org = await world.newOrg();
    world.vendor.always('/few', DOWN);
    const sessions = await failed(org, '/few', 4);
    for (const session of sessions) await session.reaches('halted');
    for (const session of sessions) expect(session.undos()).toHaveLength(4);
    expect((await breakerOf(org)).state).toBe('closed');
  });
});
