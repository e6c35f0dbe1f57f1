import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe('a rollout', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'rollout' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('lets a call that is open end, keeps its attempt, and goes on at the next one’s number (C24)', async () => {
    world.vendor.script('/slow-503', { status: 503, delayMs: 1500 });
    const session = await org.booked(['/after-slow', '/slow-503']);
    await session.fail();
    await expect.poll(() => world.vendor.ledger.at('/slow-503').length, { timeout: 10_000 }).toBe(1);
    const exit = await world.compensator.stop();
    expect(exit).toMatchObject({ code: 0, signal: null });
    expect(exit.afterMs).toBeLessThan(25_000);
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ state: 'running', attempts: [{ status: 503, outcome: 'unknown' }] });

    await world.compensator.start();
    await session.reaches('compensated');
    expect(session.undos().map((call) => call.attempt)).toEqual([1, 2, 1]);
    expect(await session.faults()).toEqual([]);
  });

  it('twice in one session dead-letters nothing, and after SIGTERM no new work is taken (C25)', async () => {
    const sessions = await Promise.all(
      [1, 2, 3].map(() => org.booked(['/rolled', '/rolled', '/rolled', '/rolled', '/rolled'])),
    );
    world.vendor.always('/rolled', { delayMs: 250 });
    await Promise.all(sessions.map((session) => session.fail()));
    for (const seen of [2, 8]) {
      await expect.poll(() => world.vendor.ledger.at('/rolled').length, { timeout: 15_000 }).toBeGreaterThan(seen);
      const exit = await world.compensator.stop();
      expect(exit).toMatchObject({ code: 0 });
      const calls = world.vendor.ledger.at('/rolled');
      expect(calls.filter((call) => call.closedAtMs === undefined)).toEqual([]);
      await world.compensator.start();
    }
    for (const session of sessions) {
      await session.reaches('compensated');
      // A call that ended before the exit was settled: nothing is repeated.
      expect(await session.calledPositions()).toEqual([5, 4, 3, 2, 1]);
      expect(await org.deadLetters(session.id)).toEqual([]);
    }
  });

  it('abandons a call that outlasts 20 s as unknown, exits 0 within 25 s, and repeats it under the same key', async () => {
    world.vendor.script('/endless', { ends: 'hang' });
    const session = await org.booked(['/endless'], { spec: { timeout_ms: 60_000 } });
    await session.fail();
    await expect.poll(() => world.vendor.ledger.at('/endless').length, { timeout: 10_000 }).toBe(1);
    const exit = await world.compensator.stop();
    expect(exit).toMatchObject({ code: 0, signal: null });
    expect(exit.afterMs).toBeGreaterThan(19_000);
    expect(exit.afterMs).toBeLessThan(25_000);
    await world.compensator.start();
    await session.reaches('compensated');
    expect(await session.faults()).toEqual([]);
    expect(session.undos()).toHaveLength(2);
    expect((await session.stack())[0]!.attempts.map((attempt) => attempt.outcome)).toEqual(['unknown', 'done']);
  });

  it('of the api loses no answer: requests in flight are answered before it exits 0', async () => {
    const session = await org.open();
    await org.compensation('/api-rollout');
    const requests = Array.from({ length: 30 }, () => session.tryRegister('/api-rollout').catch(() => undefined));
    const exit = world.api.stop();
    const answers = await Promise.all(requests);
    expect(await exit).toMatchObject({ code: 0, signal: null });
    await world.api.start();
    const told = answers.filter((answer) => answer?.status === 201).length;
    const registered = await session.stack();
    // What was refused at the door did not happen; what happened was answered.
    expect(registered).toHaveLength(told);
  });
});
