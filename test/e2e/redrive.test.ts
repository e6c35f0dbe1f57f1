import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntryShown, Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('a re-drive of a halted session', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'redrive' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const confirm = (): object => ({
    confirm: {
      url: `${world.vendor.url}/record/{args.ref}`,
      done_when: { pointer: '/state', equals: 'cancelled' },
      budget_ms: 500,
      interval_ms: 100,
    },
  });

  it('has a fresh budget and delays, keeps the history and the key, and really calls (C6, C8, C77)', async () => {
    world.vendor.always('/redriven/2', { status: 503 });
    const spec = { retry: { initial_ms: 400, jitter: 'none' } };
    const session = await org.booked(['/redriven/1', '/redriven/2', '/redriven/3'], { spec });
    await session.fail();
    await session.reaches('halted');
    expect(await session.calledPositions()).toEqual([3, 2, 2, 2, 2]);

    world.vendor.heal('/redriven/2');
    world.vendor.script('/redriven/2', { status: 503 }, { status: 503 });
    await session.retry();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 2, 2, 2, 2, 2, 2, 2, 1]);
    expect(await session.faults()).toEqual([]);
    expect(session.standing()).toEqual([]);

    const calls = world.vendor.ledger.at('/redriven/2');
    expect(calls.map((call) => call.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const waits = [4, 5].map((n) => calls[n + 1]!.receivedAtMs - calls[n]!.closedAtMs!);
    // 400 ms and 800 ms; as the fifth and sixth of one long round they would be 5 s.
    for (const wait of waits) expect(wait).toBeLessThan(4000);
    const [, entry] = await session.stack();
    expect(entry!.attempts.map((attempt) => attempt.status)).toEqual([503, 503, 503, 503, 503, 503, 200]);
    expect((await org.deadLetters(session.id)).map((letter) => letter.state)).toEqual(['closed']);
  });

  it('past the life of its key is a call only where the record shows that the first one did not take', async () => {
    // The other tests need the host's breaker closed.
    const spec = { key_ttl_seconds: 60, retry: { max_retries: 0 }, wait_out_outages: false };
    for (const [path, more, state, calls] of [
      ['/forgotten', {}, 'halted', 1],
      ['/forgotten-and-shown', confirm(), 'compensated', 2],
    ] as const) {
      world.vendor.script(path, { status: 503 });
      const session = await org.booked([path], { spec: { ...spec, ...more } });
      await session.fail();
      await session.reaches('halted');
      const [{ undo_id: undoId }] = (await session.stack()) as [EntryShown];
      await world.rows(`UPDATE undolog_attempts SET at = at - interval '1 hour' WHERE undo_id = $1`, undoId);
      await session.retry();
      await session.reaches(state);
      expect(session.undos()).toHaveLength(calls);
      expect(await session.faults()).toEqual([]);
      if (state === 'halted')
        expect((await session.stack())[0]).toMatchObject({ code: 'key_expired', state: 'unconfirmed' });
    }
  });

  it('of an undo that took although its answer was lost asks first and makes no call (C30, C39)', async () => {
    // The vendor carries it out, and neither its answers nor its record can be seen for a while.
    world.vendor.always('/took', { applies: true, ends: 'reset' });
    const spec = { ...confirm(), retry: { max_retries: 1, initial_ms: 20 } };
    const session = await org.booked(['/below-took', '/took'], { spec });
    const record = `/record/${session.id}#2`;
    world.vendor.always(record, { status: 503 });
    await session.fail();
    await session.reaches('halted');
    expect((await session.stack())[0]).toMatchObject({ state: 'unconfirmed' });
    const callsBefore = world.vendor.ledger.at('/took').length;

    world.vendor.heal(record);
    world.vendor.heal('/took');
    await session.retry();
    await session.reaches('compensated');
    expect(world.vendor.ledger.at('/took')).toHaveLength(callsBefore);
    expect((await session.stack())[0]).toMatchObject({ state: 'compensated', proof: 'confirmed' });
    expect(world.vendor.ledger.at('/took').filter((call) => call.applied)).toHaveLength(1);
    expect(await session.calledPositions()).toEqual([2, 2, 1]);
    expect(session.standing()).toEqual([]);
  });

  it('of an undo that never took really undoes it and goes on below (C30)', async () => {
    world.vendor.always('/never-took', { applies: false, ends: 'reset' });
    const spec = { ...confirm(), retry: { max_retries: 1, initial_ms: 20 } };
    const session = await org.booked(['/below-never', '/never-took'], { spec });
    await session.fail();
    await session.reaches('halted');
    expect(session.standing()).toHaveLength(2);
    world.vendor.heal('/never-took');
    await session.retry();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 2, 2, 1]);
    expect(await session.faults()).toEqual([]);
    expect(session.standing()).toEqual([]);
  });

  it('that is refused again halts again, with a second dead letter', async () => {
    world.vendor.always('/stubborn', { status: 400 });
    const session = await org.booked(['/below-stubborn', '/stubborn']);
    await session.fail();
    await session.reaches('halted');
    await session.retry();
    await session.reaches('halted');
    expect(session.undos()).toHaveLength(2);
    const letters = await org.deadLetters(session.id);
    expect(letters.map((letter) => letter.state)).toEqual(['open', 'closed']);
  });
});
