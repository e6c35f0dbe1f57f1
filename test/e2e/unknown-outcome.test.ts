import { freePort } from '@undolog/backends/free-port';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('an outcome that nobody can know', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'unknown_outcome' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const confirm = (more: object = {}): object => ({
    confirm: {
      url: `${world.vendor.url}/record/{args.ref}`,
      done_when: { pointer: '/state', equals: 'cancelled' },
      budget_ms: 800,
      interval_ms: 100,
      ...more,
    },
  });
  const impatient = { timeout_ms: 1500, retry: { max_retries: 1, initial_ms: 20 } };

  it('is unconfirmed, never failed, where the vendor applied it and the answer came too late', async () => {
    world.vendor.always('/late-answer', { delayMs: 5000 });
    const session = await org.booked(['/below', '/late-answer'], { spec: impatient });
    await session.fail();
    await session.reaches('halted');
    const [entry, below] = await session.stack();
    expect(entry).toMatchObject({ state: 'unconfirmed', code: 'outcome_unknown', proof: null });
    expect(entry!.attempts.map((attempt) => attempt.outcome)).toEqual(['unknown', 'unknown']);
    expect(below!.state).toBe('active');
    // The vendor did it, once: both tries came under one key.
    expect(session.undos().filter((call) => call.applied)).toHaveLength(1);
    expect(await session.faults()).toEqual([]);
  });

  it('is compensated where the vendor’s record shows it, without a second effect', async () => {
    world.vendor.always('/late-but-shown', { delayMs: 5000 });
    const session = await org.booked(['/below', '/late-but-shown'], { spec: { ...impatient, ...confirm() } });
    await session.fail();
    await session.reaches('compensated');
    expect((await session.stack())[0]).toMatchObject({ state: 'compensated', proof: 'confirmed' });
    expect(world.vendor.ledger.at('/late-but-shown')).toHaveLength(1);
    expect(session.standing()).toEqual([]);
  });

  it('stays unconfirmed when a refusal follows it: one unknown try outweighs a later 400', async () => {
    world.vendor.script('/reset-then-400', { applies: false, ends: 'reset' }, { status: 400 });
    const session = await org.booked(['/reset-then-400']);
    await session.fail();
    await session.reaches('halted');
    expect((await session.stack())[0]).toMatchObject({ state: 'unconfirmed', code: 'outcome_unknown' });
    expect(session.undos()).toHaveLength(2);
  });

  it('is repeated under the same key after a reset, with one effect at the vendor (C39)', async () => {
    world.vendor.script('/reset-after', { ends: 'reset' });
    const session = await org.booked(['/reset-after']);
    await session.fail();
    await session.reaches('compensated');
    const calls = session.undos();
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map((call) => call.key)).size).toBe(1);
    expect(calls.map((call) => call.applied)).toEqual([true, false]);
  });

  it('is not repeated at a vendor that ignores keys, where its record can be asked (C39)', async () => {
    world.vendor.ignoresKeysAt.add('/keyless');
    world.vendor.script('/keyless', { ends: 'reset' });
    const session = await org.booked(['/keyless'], { spec: confirm() });
    await session.fail();
    await session.reaches('compensated');
    expect(session.undos().filter((call) => call.applied)).toHaveLength(1);
  });

  it('does not arise from a slow trickle: the deadline covers the whole body', async () => {
    world.vendor.always('/trickle', { ends: 'drip', applies: false });
    const session = await org.booked(['/trickle'], { spec: { ...impatient, retry: { max_retries: 0 } } });
    await session.fail();
    await session.reaches('halted', 8000);
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ state: 'unconfirmed', code: 'outcome_unknown' });
    expect(entry!.attempts[0]!.duration_ms).toBeLessThan(2000);
  });

  it('never takes a 200 for done while the record still says booked', async () => {
    world.vendor.always('/says-yes', { applies: false });
    const session = await org.booked(['/below', '/says-yes'], { spec: confirm() });
    await session.fail();
    const halted = await session.reaches('halted');
    expect((await session.stack())[0]).toMatchObject({ state: 'unconfirmed', code: 'not_confirmed', proof: null });
    // It is not asked to do it twice, and what lies below is not touched.
    expect(await session.calledPositions()).toEqual([2]);
    expect(session.standing()).toHaveLength(2);
    expect(halted.undo_counts).toMatchObject({ compensated: 0, unconfirmed: 1 });
    const questions = session.questionsAbout().length;
    expect(questions).toBeGreaterThanOrEqual(3);
    expect(questions).toBeLessThanOrEqual(10);
  });

  it('is what a 202 leaves where nobody can ask (C57)', async () => {
    world.vendor.always('/accepted', { status: 202 });
    const session = await org.booked(['/below', '/accepted']);
    await session.fail();
    await session.reaches('halted');
    expect((await session.stack())[0]).toMatchObject({ state: 'unconfirmed', code: 'not_confirmed' });
    expect(await session.calledPositions()).toEqual([2]);
  });

  it('ends once a 202 shows in the record, and the next entry waits for it (C57)', async () => {
    world.vendor.always('/accepted-slow', { status: 202, applies: false });
    const session = await org.booked(['/after-accepted', '/accepted-slow'], { spec: confirm({ budget_ms: 10_000 }) });
    await session.fail();
    await session.reaches('compensating');
    await vi.waitFor(() => expect(session.questionsAbout().length).toBeGreaterThan(3), { timeout: 5000 });
    expect(world.vendor.ledger.at('/after-accepted')).toEqual([]);
    world.vendor.cancelQuietly(org.orgId, `${session.id}#2`);
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect((await session.stack())[0]).toMatchObject({ proof: 'confirmed' });
  });

  it('is unconfirmed where nobody answers at all', async () => {
    const nobody = await freePort();
    const spec = { url: `http://127.0.0.1:${nobody}/undo`, retry: { max_retries: 2, initial_ms: 20 } };
    const session = await org.booked(['/nobody'], { spec });
    await session.fail();
    await session.reaches('halted');
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ state: 'unconfirmed', code: 'endpoint_unreachable' });
    expect(entry!.attempts).toHaveLength(3);
    expect(session.standing()).toHaveLength(1);
  });

  it('makes no call with a result that is missing: the entry halts as missing_result (C50)', async () => {
    const session = await org.open();
    const undo = { args: { id: { $result: '/booking_id' } } };
    // Three calls at once; the third never reported what it booked.
    const [first, second] = await Promise.all(
      [1, 2, 3].map((n) => session.register('/needs-result', { step_index: n }, undo)),
    );
    for (const one of [first!, second!]) await session.commit(one.effect_id, { booking_id: `b-${one.stack_position}` });
    await session.fail();
    await session.reaches('halted');
    expect((await session.stack())[0]).toMatchObject({ state: 'unconfirmed', code: 'missing_result', attempts: [] });
    expect(session.undos()).toEqual([]);
  });

  it('counts a result without the value as missing, and null as a value (C50)', async () => {
    const undo = { args: { id: { $result: '/booking_id' } } };
    const [without, withNull] = [await org.open(), await org.open()];
    await without.commit((await without.register('/result-lacks', {}, undo)).effect_id, { other: 1 });
    await withNull.commit((await withNull.register('/result-null', {}, undo)).effect_id, { booking_id: null });
    await Promise.all([without.fail(), withNull.fail()]);
    await without.reaches('halted');
    expect(without.undos()).toEqual([]);
    await withNull.reaches('compensated');
    expect(withNull.undos().map((call) => call.body.toString())).toEqual(['{"id":null}']);
  });
});
