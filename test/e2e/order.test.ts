import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('the order of an unwind, with 4 compensators at concurrency 20', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'order', compensators: 4, env: { UNDOLOG_CONCURRENCY: '20' } });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('runs 12 entries 12 to 1 by number, never two at a time (C33, C44)', async () => {
    world.vendor.always('/twelve', { delayMs: 60 });
    const session = await org.booked(Array.from({ length: 12 }, () => '/twelve'));
    await session.fail();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(await session.faults()).toEqual([]);
    expect(session.standing()).toEqual([]);
  });

  it('goes by stack position where calls were registered in another order (C33)', async () => {
    await org.compensation('/shuffled');
    const session = await org.open();
    for (const position of [7, 2, 11, 0, 10]) await session.book('/shuffled', { step_index: position });
    await session.fail();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([11, 10, 7, 2, 0]);
    expect(session.standing()).toEqual([]);
  });

  it('goes by stack position where calls were registered at the same moment (C33)', async () => {
    await org.compensation('/parallel');
    const session = await org.open();
    const registered = await Promise.all(Array.from({ length: 12 }, () => session.register('/parallel')));
    for (const one of registered) await session.commit(one.effect_id, await session.callVendor(one));
    expect(registered.map((one) => one.stack_position).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    await session.fail();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('calls 5,4,4,4,3,2,1 where entry 4 answers 503 twice (C13)', async () => {
    world.vendor.script('/retried/4', { status: 503 }, { status: 503 });
    const session = await org.booked([1, 2, 3, 4, 5].map((n) => `/retried/${n}`));
    await session.fail();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([5, 4, 4, 4, 3, 2, 1]);
    expect(session.undos().map((call) => call.attempt)).toEqual([1, 1, 2, 3, 1, 1, 1]);
    expect(await session.faults()).toEqual([]);
    expect(session.standing()).toEqual([]);
  });

  it('runs sessions side by side while each keeps its own order (C44)', async () => {
    world.vendor.always('/side-by-side', { delayMs: 250 });
    const sessions = await Promise.all(
      Array.from({ length: 10 }, () => org.booked(['/side-by-side', '/side-by-side', '/side-by-side'])),
    );
    await Promise.all(sessions.map((session) => session.fail()));
    for (const session of sessions) await session.reaches('compensated');
    for (const session of sessions) {
      expect(await session.calledPositions()).toEqual([3, 2, 1]);
      expect(await session.faults()).toEqual([]);
    }
    const calls = world.vendor.ledger.at('/side-by-side');
    const atOnce = calls.map(
      (call) =>
        calls.filter((other) => other.receivedAtMs <= call.receivedAtMs && call.receivedAtMs < other.closedAtMs!)
          .length,
    );
    expect(Math.max(...atOnce)).toBeGreaterThanOrEqual(5);
  });

  it('gives every entry a key of its own, whatever the ids look like (C54, C9)', async () => {
    await org.compensation('/keys');
    const other = await world.newOrg();
    const ids = ['a', 'a1', 'urn:uuid:1', 'acme:eu', 'a:b', 'a:b:c', '42', '007', 'undo-1 #comp', '%2F/..?'];
    const sessions = [];
    for (const one of [org, other]) {
      for (const id of ids) {
        const session = await one.open({ session_id: id });
        await session.book('/keys', { step_index: 1 });
        await session.book('/keys', { step_index: 11 });
        sessions.push(session);
      }
    }
    for (const session of sessions) await session.fail();
    for (const session of sessions) await session.reaches('compensated');
    const calls = sessions.flatMap((session) => session.undos());
    expect(calls).toHaveLength(ids.length * 2 * 2);
    expect(new Set(calls.map((call) => call.key)).size).toBe(calls.length);
    const forward = world.vendor.ledger.at('/book').map((call) => call.key);
    expect(calls.filter((call) => forward.includes(call.key))).toEqual([]);
    for (const { key } of calls) expect(key).toMatch(/^[\x21-\x7e]{1,255}$/);
    for (const session of sessions) expect(await session.calledPositions()).toEqual([11, 1]);
  });
});
