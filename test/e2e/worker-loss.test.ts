import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

const NEXT_TRY_LIMIT_MS = 15_000;

describe('a worker that is lost', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'worker_loss' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('twice in the POST: same key, one effect, and the budget counts lost tries too (C3, C4, C77)', async () => {
    const calls = (path: string): number => world.vendor.ledger.at(path).length;
    world.vendor.script('/killed', { ends: 'hang' }, { ends: 'hang' });
    world.vendor.script('/killed-out', { ends: 'hang', applies: false }, { ends: 'hang', applies: false });
    const session = await org.booked(['/below-killed', '/killed', '/above-killed']);
    // One retry: after two lost tries there is no call left to make.
    const spent = await org.booked(['/below-out', '/killed-out'], { spec: { retry: { max_retries: 1 } } });
    // By the time that somebody takes it over, the vendor may have forgotten its key.
    world.vendor.script('/killed-late', { ends: 'hang' });
    const late = await org.booked(['/below-late', '/killed-late'], { spec: { key_ttl_seconds: 1 } });
    await Promise.all([session.fail(), spent.fail(), late.fail()]);
    for (const tries of [1, 2]) {
      await expect
        .poll(() => [calls('/killed'), calls('/killed-out'), calls('/killed-late')], { timeout: 25_000 })
        .toEqual([tries, tries, 1]);
      await world.compensator.kill();
      await world.compensator.start();
    }
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 2, 2, 2, 1]);
    expect(await session.faults()).toEqual([]);
    expect(session.undos().filter((call) => call.applied)).toHaveLength(3);
    expect(session.standing()).toEqual([]);
    const tries = world.vendor.ledger.at('/killed');
    expect(tries.map((call) => call.attempt)).toEqual([1, 2, 3]);
    for (const n of [1, 2]) {
      expect(tries[n]!.receivedAtMs - tries[n - 1]!.closedAtMs!).toBeLessThan(NEXT_TRY_LIMIT_MS);
    }

    await late.reaches('halted');
    expect((await late.stack())[0]).toMatchObject({ state: 'unconfirmed', code: 'key_expired' });
    expect(await late.calledPositions()).toEqual([2]);

    await spent.reaches('halted');
    expect(await spent.calledPositions()).toEqual([2, 2]);
    const [entry] = await spent.stack();
    expect(entry).toMatchObject({ state: 'unconfirmed', code: 'stalled' });
    expect(entry!.attempts.map((attempt) => attempt.outcome)).toEqual(['unknown', 'unknown']);
    const letters = await org.deadLetters(spent.id);
    expect(letters.map((letter) => letter.code)).toEqual(['stalled']);
  });

  it('right after a refusal: halted once, with one dead letter (C28)', async () => {
    const sessions = await Promise.all([1, 2, 3, 4].map((n) => org.booked(['/below-refused', `/refused/${n}`])));
    for (const n of [1, 2, 3, 4]) world.vendor.always(`/refused/${n}`, { status: 400 });
    await Promise.all(sessions.map((session) => session.fail()));
    await expect.poll(() => world.vendor.ledger.at('/refused/1')[0]?.closedAtMs).toBeDefined();
    await world.compensator.kill();
    await world.compensator.start();
    for (const session of sessions) {
      await session.reaches('halted');
      expect(new Set(await session.calledPositions())).toEqual(new Set([2]));
      expect(await session.faults()).toEqual([]);
      expect(await org.deadLetters(session.id)).toHaveLength(1);
    }
  });

  it('frozen past its lease: what it sends again has the same key, and it writes nothing (C1)', async () => {
    const [first, second] = [world.compensator, await world.addCompensator().start()];
    // Which of the two takes the entry is open, so the one that holds it is found by its log of claims: the slow one.
    let answer = (): void => undefined;
    world.vendor.script('/frozen', { until: new Promise<void>((resolve) => (answer = resolve)) });
    const session = await org.booked(['/below-frozen', '/frozen']);
    await second.stop();
    await session.fail();
    await expect.poll(() => world.vendor.ledger.at('/frozen').length, { timeout: 10_000 }).toBe(1);
    first.freeze();
    await second.start();
    await session.reaches('compensated', 30_000);
    expect(await session.calledPositions()).toEqual([2, 2, 1]);
    const settled = await session.stack();

    // The answer to the frozen one's call arrives, and it wakes up into a world that has moved on.
    answer();
    first.thaw();
    await expect
      .poll(() => first.log.some((line) => line.includes('settlement dropped')), { timeout: 10_000 })
      .toBe(true);
    expect(await session.stack()).toEqual(settled);
    expect((await session.view()).state).toBe('compensated');
    expect(await session.faults()).toEqual([]);
    expect(session.undos().filter((call) => call.applied)).toHaveLength(2);
    expect((await first.readiness()).status).toBe(200);
    await second.stop();
  });
});
