import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type AgentSession, type Org, type Registered } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

const SETTLE_MS = 600;
const SOON = { timeout: 15_000, interval: 20 };

describe.concurrent('an effect whose outcome nobody reported is looked up', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'lookup' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  /** Undone at `path`; the vendor is asked at `at`, by default at its record of the booking. */
  function undoneAt(path: string, at = '/record/{args.ref}', lookup: object = {}): Promise<string> {
    const pointer = at.startsWith('/record') ? '' : '/0';
    const declared = {
      url: world.vendor.url + at,
      result_pointer: pointer,
      absent_on_status: [404],
      settle_ms: SETTLE_MS,
    };
    return org.compensation(path, {
      timeout_ms: 1500,
      retry: { max_retries: 2, initial_ms: 20 },
      lookup: { ...declared, ...lookup },
    });
  }

  const withId = { ref: { $args: '/ref' }, id: { $result: '/booking_id' } };
  const bodies = (session: AgentSession): unknown[] =>
    session.undos().map((call) => JSON.parse(call.body.toString()) as unknown);
  const report = (effect: Registered, outcome: string) =>
    org.post(`/v1/effects/${effect.effect_id}/fail`, { error: 'timeout', outcome });

  it('and, being there, undone with what the vendor showed, on every try (C79)', async () => {
    world.vendor.script('/find/c79', { status: 200, body: '[{"booking_id": "b-77", "n": 1.0}]' });
    world.vendor.script('/c79', { status: 503, applies: false }, { status: 503, applies: false });
    const session = await org.booked(['/c79/below']);
    await session.bookUnreported('/c79', {}, { fn_name: await undoneAt('/c79', '/find/c79'), args: withId });
    await session.fail();
    await session.reaches('compensated');
    const calls = session.undos().filter(({ path }) => path === '/c79');
    const body = { ref: `${session.id}#2`, id: 'b-77' };
    expect(calls.map((call) => JSON.parse(call.body.toString()) as unknown)).toEqual([body, body, body]);
    expect(new Set(calls.map((call) => call.headers['undolog-effect-outcome']))).toEqual(new Set(['unknown']));
    expect(await session.calledPositions()).toEqual([2, 2, 2, 1]);
    // One question; neither it nor a repeat of it is an attempt.
    expect(session.questionsAbout()).toHaveLength(1);
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ state: 'compensated', args: body, effect: { result: { booking_id: 'b-77' } } });
    expect(entry!.attempts).toHaveLength(3);
    expect(session.standing()).toEqual([]);
    expect(await session.faults()).toEqual([]);
  });

  it('and skipped only when it is absent twice, the time to settle apart; the unwind goes on (C80)', async () => {
    world.vendor.always('/find/absent', { status: 404 });
    const session = await org.booked(['/absent/below']);
    await session.register('/absent', {}, { fn_name: await undoneAt('/absent', '/find/absent') });
    await session.fail();
    const shown = await session.reaches('compensated');
    const [first, second, ...more] = session.questionsAbout();
    expect(more).toEqual([]);
    expect(second!.receivedAtMs - first!.closedAtMs!).toBeGreaterThanOrEqual(SETTLE_MS - 20);
    expect(await session.calledPositions()).toEqual([1]);
    expect((await session.stack())[0]).toMatchObject({ state: 'skipped', reason: 'effect_absent', attempts: [] });
    expect(shown).toMatchObject({ effects_standing: [], fully_compensated: true });
  });

  it('and undone where a lagging vendor shows it at last: one absence is no proof (C80)', async () => {
    world.vendor.script(
      '/find/lag',
      { status: 404 },
      { status: 404 },
      { status: 200, body: '[{"booking_id": "late"}]' },
    );
    const session = await org.open();
    const fnName = await undoneAt('/lag', '/find/lag', { settle_ms: 2500 });
    const effect = await session.bookUnreported('/lag', {}, { fn_name: fnName, args: withId });
    // The first look is that of the report, the second that of the unwind, too soon after it to count.
    expect((await report(effect, 'unknown')).status).toBe(200);
    await vi.waitFor(() => expect(session.questionsAbout()).toHaveLength(1), SOON);
    await session.fail();
    await session.reaches('compensated');
    expect(session.questionsAbout().map((call) => call.status)).toEqual([404, 404, 200]);
    expect(bodies(session)).toEqual([{ ref: `${session.id}#1`, id: 'late' }]);
    expect(session.standing()).toEqual([]);
  });

  it.each([
    ['errs', { status: 500 }],
    ['hangs', { ends: 'hang' }],
    ['redirects', { status: 302, headers: { location: '/login' } }],
    ['is garbage', { status: 200, body: '<html>' }],
  ] as const)(
    'and left unconfirmed where the look-up %s: "could not look" is never "not there" (C80)',
    async (name, step) => {
      const path = `/unseen/${name.replace(' ', '-')}`;
      world.vendor.always(`/find${path}`, step);
      const session = await org.booked([`${path}/below`]);
      await session.bookUnreported(path, {}, { fn_name: await undoneAt(path, `/find${path}`) });
      await session.fail();
      const shown = await session.reaches('halted');
      expect((await session.stack())[0]).toMatchObject({ state: 'unconfirmed', code: 'lookup_failed', attempts: [] });
      expect(session.undos()).toEqual([]);
      expect(session.questionsAbout()).toHaveLength(3);
      expect(session.standing()).toHaveLength(2);
      expect(shown.effects_standing[0]).toMatchObject({
        stack_position: 2,
        reason: 'lookup_failed',
        outcome: 'unknown',
      });
    },
  );

  it('and undone after its call has landed, which an early look could not see (C36)', async () => {
    const session = await org.booked(['/c36-lands/below']);
    const fnName = await undoneAt('/c36-lands', undefined, { settle_ms: 1500 });
    const late = await session.register('/c36-lands', {}, { fn_name: fnName });
    await session.fail('the agent gave up');
    await vi.waitFor(() => expect(session.questionsAbout()[0]?.status).toBe(404), SOON);
    expect(session.undos()).toEqual([]);
    await session.callVendor(late);
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(session.standing()).toEqual([]);
  });

  it('not before its call can have landed, and neither is anything below it undone (C36)', async () => {
    const session = await org.booked(['/c36-waits/below']);
    const fnName = await undoneAt('/c36-waits', undefined, { settle_ms: 0 });
    const late = await session.register('/c36-waits', { call_timeout_ms: 2000 }, { fn_name: fnName });
    await session.fail('the agent gave up');
    await session.callVendor(late);
    await session.reaches('compensated');
    const executedAtMs = Date.parse((await session.stack())[0]!.effect.executed_at!);
    expect(session.questionsAbout()[0]!.receivedAtMs).toBeGreaterThanOrEqual(executedAtMs + 1990);
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(session.standing()).toEqual([]);
  });

  it('and with it each of three parallel calls: one committed, one not applied, one never reported (C117)', async () => {
    const session = await org.open();
    const fnName = await undoneAt('/c117');
    const calls = await Promise.all(
      [1, 2, 3].map((n) => session.register('/c117', { step_index: n }, { fn_name: fnName })),
    );
    const [done, refused, silent] = calls as [Registered, Registered, Registered];
    const result = await session.callVendor(done);
    await Promise.all([
      session.commit(done.effect_id, result),
      report(refused, 'not_applied'),
      session.callVendor(silent),
    ]);
    await session.fail();
    const shown = await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 1]);
    expect(session.questionsAbout().map((call) => call.effect)).toEqual([silent.effect_id]);
    expect((await session.stack()).map((entry) => entry.state)).toEqual(['compensated', 'skipped', 'compensated']);
    expect([shown.fully_compensated, session.standing()]).toEqual([true, []]);
  });

  it('only where it was performed: denied and replayed calls have no undo (C115)', async () => {
    const session = await org.open();
    const fnName = await undoneAt('/c115');
    const undo = { fn_name: fnName, args: withId };
    const denied = await session.register('/c115', {}, undo);
    expect((await report(denied, 'not_applied')).status).toBe(200);
    const call = { call_id: 'one', args: { ref: `${session.id}#done` } };
    const done = bodyOf<Registered>(await session.tryRegister('/c115', call, undo));
    session.refs.set(done.effect_id, call.args.ref);
    const result = (await session.callVendor(done)) as { booking_id: string };
    await session.commit(done.effect_id, result);
    const replayed = bodyOf<Registered>(await session.tryRegister('/c115', call, undo));
    expect(replayed).toMatchObject({ decision: 'replay', effect_id: done.effect_id, result });
    await session.fail();
    await session.reaches('compensated');
    expect(bodies(session)).toEqual([{ ref: call.args.ref, id: result.booking_id }]);
    expect(session.questionsAbout()).toEqual([]);
  });
});
