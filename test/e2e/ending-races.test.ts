import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentSession, Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

const RUNS = 40;

describe('whichever end commits first wins for good', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'ending_races', env: { UNDOLOG_SWEEP_MS: '100' } });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  /** What was answered, what the session says and what the vendor knows must be one story. */
  async function expectOneStory(session: AgentSession, completed: boolean): Promise<void> {
    const shown = await session.reaches(completed ? 'completed' : 'compensated');
    expect(shown.failure === null).toBe(completed);
    expect(session.undos()).toHaveLength(completed ? 0 : 1);
    expect(session.standing()).toHaveLength(completed ? 1 : 0);
  }

  it('complete against fail', async () => {
    const sessions = await Promise.all(Array.from({ length: RUNS }, () => org.booked(['/race-fail'])));
    const ends = await Promise.all(
      sessions.map(async (session, n) => {
        const complete = (): Promise<number> => org.post(`${session.path}/complete`).then(({ status }) => status);
        const fail = (): Promise<number> =>
          org.post(`${session.path}/fail`, { reason: 'x' }).then(({ status }) => status);
        // From a completion 20 ms ahead of the failure to one 20 ms behind it.
        const aheadMs = 20 - (40 * n) / RUNS;
        return Promise.all([sleep(Math.max(0, -aheadMs)).then(complete), sleep(Math.max(0, aheadMs)).then(fail)]);
      }),
    );
    for (const end of ends)
      expect([
        [200, 409],
        [409, 202],
      ]).toContainEqual(end);
    for (const [n, session] of sessions.entries()) await expectOneStory(session, ends[n]![0] === 200);
    const winners = new Set(ends.map(([completed]) => completed));
    expect(winners, 'each side should win at least once').toEqual(new Set([200, 409]));
  });

  it('complete against the expiry of the lease', async () => {
    const booked = Array.from({ length: RUNS }, () => org.booked(['/race-expiry'], { session: { lease_seconds: 60 } }));
    // Only once all are booked does the time begin to run.
    const sessions = await Promise.all(
      (await Promise.all(booked)).map(async (session) => ({
        session,
        expiresMs: await world.leaseEndsIn(session.id, 1000),
      })),
    );
    const statuses = await Promise.all(
      sessions.map(async ({ session, expiresMs }, n) => {
        // From 150 ms before the expiry to 150 ms after it.
        await sleep(Math.max(0, expiresMs - Date.now() - 150 + (300 * n) / RUNS));
        return (await org.post(`${session.path}/complete`)).status;
      }),
    );
    for (const [n, { session }] of sessions.entries()) {
      expect([200, 409]).toContain(statuses[n]);
      await expectOneStory(session, statuses[n] === 200);
    }
    expect(new Set(statuses), 'each side should win at least once').toEqual(new Set([200, 409]));
  });

  it('a registration against fail: one that was allowed is undone, one that was refused is not there', async () => {
    const sessions = await Promise.all(Array.from({ length: RUNS }, () => org.booked(['/race-register'])));
    const registered = await Promise.all(
      sessions.map(async (session) => {
        const [answer] = await Promise.all([session.tryRegister('/race-register'), session.fail()]);
        return answer.status;
      }),
    );
    for (const [n, session] of sessions.entries()) {
      await session.reaches('compensated');
      expect(await session.calledPositions()).toEqual(registered[n] === 201 ? [2, 1] : [1]);
    }
  });
});
