import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Org } from '../support/api-client.js';
import { queuedDeadLetters } from '../support/queue-look.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('what becomes of an unwind when a vendor refuses', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'refusals', compensators: 3 });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const five = (name: string): string[] => [1, 2, 3, 4, 5].map((n) => `/${name}/${n}`);

  it('stops at a 400 on 3 of 5: one call, 2 and 1 untouched, halted, one dead letter (C14, C28, C47, C48)', async () => {
    world.vendor.always('/refused/3', { status: 400 });
    const session = await org.booked(five('refused'));
    await session.fail();
    const halted = await session.reaches('halted');
    expect(await session.calledPositions()).toEqual([5, 4, 3]);
    expect(session.standing()).toHaveLength(3);
    expect(halted.undo_counts).toMatchObject({ compensated: 2, failed: 1, active: 2 });
    expect(halted.effects_standing.map((one) => one.stack_position).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    expect(halted.fully_compensated).toBe(false);

    const [letter, ...more] = await org.deadLetters(session.id);
    expect(more).toEqual([]);
    expect(letter).toMatchObject({ state: 'open', stack_position: 3, code: 'http_400', attempts: 1 });
    expect(letter!.broken.map((one) => one.stack_position)).toEqual([3]);
    expect(letter!.not_undone.map((one) => one.stack_position)).toEqual([2, 1]);
    const queued = await vi.waitFor(async () => {
      const found = await queuedDeadLetters(world, session.id);
      expect(found.length).toBeGreaterThan(0);
      return found;
    });
    expect(queued.map((job) => job['dead_letter_id'])).toEqual([letter!.dead_letter_id]);
    // An alert has something to fire on.
    expect(await world.compensator.metric('undolog_dead_letters_open')).toBeGreaterThanOrEqual(1);
    expect(await world.compensator.metric('undolog_sessions', 'state="halted"')).toBeGreaterThanOrEqual(1);
  });

  it.each([
    ['503', 503, 'unconfirmed', 'http_503'],
    ['429', 429, 'failed', 'http_429'],
    ['501', 501, 'unconfirmed', 'http_501'],
  ] as const)(
    'calls a vendor that always answers %s exactly 4 times, then halts (C7, C47)',
    async (_name, status, state, code) => {
      const path = `/always/${status}`;
      world.vendor.always(path, { status });
      const session = await org.booked(['/fine', path, '/fine']);
      await session.fail();
      await session.reaches('halted');
      expect(await session.calledPositions()).toEqual([3, 2, 2, 2, 2, 1].slice(0, 5));
      const [, entry] = await session.stack();
      expect(entry).toMatchObject({ state, code, stack_position: 2 });
      expect(entry!.attempts).toHaveLength(4);
      const [letter] = await org.deadLetters(session.id);
      expect(letter).toMatchObject({ attempts: 4, code, stack_position: 2 });
      expect(letter!.not_undone.map((one) => one.stack_position)).toEqual([1]);
      expect(await session.faults()).toEqual([]);
      expect(session.standing()).toHaveLength(2);
    },
  );

  it('settles the entries below a refusal under policy continue, and halts with only the broken one left', async () => {
    world.vendor.always('/continued/3', { status: 422 });
    const session = await org.booked(five('continued'), { session: { on_compensation_failure: 'continue' } });
    await session.fail();
    const halted = await session.reaches('halted');
    expect(await session.calledPositions()).toEqual([5, 4, 3, 2, 1]);
    expect(halted.undo_counts).toMatchObject({ compensated: 4, failed: 1 });
    expect(session.standing()).toHaveLength(1);
    const [letter] = await org.deadLetters(session.id);
    expect(letter!.broken.map((one) => one.stack_position)).toEqual([3]);
    expect(letter!.not_undone).toEqual([]);
  });

  it('never follows a redirect: one call, and the place it points to is not asked', async () => {
    world.vendor.always('/moved', { status: 307, headers: { location: `${world.vendor.url}/elsewhere` } });
    const session = await org.booked(['/fine', '/moved']);
    await session.fail();
    await session.reaches('halted');
    expect(await session.calledPositions()).toEqual([2]);
    expect(world.vendor.ledger.at('/elsewhere')).toEqual([]);
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ state: 'failed', code: 'http_307' });
  });

  it('calls a 404 done only where the compensation says so, and a 408 retried only where it says so', async () => {
    world.vendor.always('/gone/listed', { status: 404, applies: true });
    world.vendor.script('/busy/listed', { status: 408 });
    world.vendor.always('/gone/unlisted', { status: 404 });
    const listed = await org.booked(['/busy/listed', '/gone/listed'], {
      spec: { outcomes: { done: [404], retry: [408] } },
    });
    const unlisted = await org.booked(['/gone/unlisted']);
    await Promise.all([listed.fail(), unlisted.fail()]);
    await listed.reaches('compensated');
    expect(await listed.calledPositions()).toEqual([2, 1, 1]);
    expect(listed.standing()).toEqual([]);
    await unlisted.reaches('halted');
    expect(unlisted.undos()).toHaveLength(1);
  });

  it('keeps a refused entry, re-drivable, even when the database refuses the write that settles it (C49)', async () => {
    world.vendor.always('/poisoned', { status: 400 });
    const session = await org.booked(['/fine', '/poisoned']);
    // The shared statement, each statement alone, and that once more: a sequence goes on counting through a rollback.
    await world.rows(`CREATE SEQUENCE refusals_left`);
    await world.rows(`
      CREATE FUNCTION refuse_twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('refusals_left') <= 2 THEN RAISE EXCEPTION 'the test refuses this write'; END IF;
        RETURN NEW;
      END $$`);
    await world.rows(`
      CREATE TRIGGER refuse_twice BEFORE UPDATE ON undolog_undo_stack FOR EACH ROW
      WHEN (NEW.session_id = '${session.id}' AND NEW.state IN ('failed', 'unconfirmed'))
      EXECUTE FUNCTION refuse_twice()`);
    await session.fail();
    await session.reaches('halted', 40_000);
    const [entry, below] = await session.stack();
    expect(['failed', 'unconfirmed']).toContain(entry!.state);
    expect(below!.state).toBe('active');
    expect(await session.faults()).toEqual([]);
    expect(await org.deadLetters(session.id)).toHaveLength(1);
    expect(session.standing()).toHaveLength(2);
  });
});
