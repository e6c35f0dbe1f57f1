import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('how a session ends', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'ending' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('starts one unwind however many report the failure at once: 50 times 202, one call per entry (C52)', async () => {
    const session = await org.booked(['/fifty', '/fifty', '/fifty']);
    // The lease runs out in the same moments.
    await world.leaseEndsIn(session.id, 50);
    const reports = Array.from({ length: 50 }, (_, n) =>
      org.settled(() => org.post(`${session.path}/fail`, { reason: `report ${n}` })),
    );
    const answers = await Promise.all(reports);
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 50 }, () => 202));
    expect(new Set(answers.map((answer) => bodyOf(answer)['session_id']))).toEqual(new Set([session.id]));
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 2, 1]);
    expect(await session.faults()).toEqual([]);
    const failed = await world.rows(
      `SELECT 1 FROM undolog_audit_log WHERE session_id = $1 AND action = 'session.failed'`,
      session.id,
    );
    expect(failed).toHaveLength(1);
  });

  it('keeps the first reason', async () => {
    const session = await org.booked(['/first-reason']);
    await session.fail('the first');
    await session.fail('the second');
    await org.post(`${session.path}/cancel`, { reason: 'the third' });
    const shown = await session.reaches('compensated');
    expect(shown.failure).toMatchObject({ reason: 'the first', kind: 'reported' });
    await session.fail('the fourth');
    expect((await session.view()).failure).toMatchObject({ reason: 'the first' });
    expect(session.undos()).toHaveLength(1);
  });

  it('undoes everything by each way out: fail, cancel, lease expiry, maximum age (C42, C120)', async () => {
    const ways = ['reported', 'cancelled', 'lease_expired', 'max_age_exceeded'];
    const ended = ways.map(async (way) => {
      const session = await org.booked(['/way-out', '/way-out'], { session: { max_age_seconds: 600 } });
      if (way === 'reported') await session.fail();
      if (way === 'cancelled') await org.post(`${session.path}/cancel`, { reason: 'enough' });
      if (way === 'max_age_exceeded') await world.makeOlder(session.id);
      if (way === 'lease_expired' || way === 'max_age_exceeded') await world.leaseEndsIn(session.id, 100);
      const shown = await session.reaches('compensated');
      expect(session.standing()).toEqual([]);
      expect(await session.calledPositions()).toEqual([2, 1]);
      return [way, shown.failure!.kind, shown.failure!.reason];
    });
    expect(await Promise.all(ended)).toEqual([
      ['reported', 'reported', 'a test ended it'],
      ['cancelled', 'cancelled', 'enough'],
      ['lease_expired', 'lease_expired', 'lease_expired'],
      ['max_age_exceeded', 'lease_expired', 'max_age_exceeded'],
    ]);
  });

  it('undoes a dead agent’s calls once its lease is over, the unreported one first, and refuses its ghost (C40, C120)', async () => {
    const session = await org.booked(['/dead/1', '/dead/2'], { session: { lease_seconds: 60 } });
    await session.bookUnreported('/dead/3');
    // As long as its heart beats it lives on.
    await world.leaseEndsIn(session.id, 5000);
    const beat = await org.post(`${session.path}/heartbeat`);
    expect(beat.status).toBe(200);
    expect(Date.parse(bodyOf<{ lease_expires_at: string }>(beat).lease_expires_at) - Date.now()).toBeGreaterThan(
      50_000,
    );
    await world.leaseEndsIn(session.id, 100);
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 2, 1]);
    expect(session.undos().map((call) => call.headers['undolog-effect-outcome'])).toEqual([
      'unknown',
      'committed',
      'committed',
    ]);
    expect(session.standing()).toEqual([]);
    const ghost = await org.post(`${session.path}/heartbeat`);
    expect([ghost.status, bodyOf(ghost)['code']]).toEqual([409, 'session_not_active']);
  });

  it('ends by its own clocks: a lease or an age of a second, with no effects, is compensated at once (C120)', async () => {
    const [leased, aged] = [
      await org.open({ lease_seconds: 1 }),
      await org.open({ lease_seconds: 0, max_age_seconds: 1 }),
    ];
    expect((await leased.reaches('compensated')).failure).toMatchObject({ reason: 'lease_expired' });
    expect((await aged.reaches('compensated')).failure).toMatchObject({ reason: 'max_age_exceeded' });
  });

  it('has an undo ready for a call that took effect but was never reported (C35)', async () => {
    const session = await org.open();
    await session.bookUnreported('/killed-agent');
    expect((await session.stack())[0]).toMatchObject({ state: 'pending', effect: { state: 'executing' } });
    expect(session.standing()).toHaveLength(1);
    await session.fail('the agent died');
    await session.reaches('compensated');
    expect(session.standing()).toEqual([]);
  });

  it('goes on undoing when it is cancelled again or grows too old meanwhile (C43)', async () => {
    world.vendor.always('/slow', { delayMs: 700 });
    const session = await org.booked(['/slow', '/slow', '/slow'], { session: { max_age_seconds: 600 } });
    await session.fail();
    await session.reaches('compensating');
    await world.makeOlder(session.id);
    for (let n = 0; n < 3; n++) {
      expect((await org.post(`${session.path}/cancel`, { reason: 'now!' })).status).toBe(202);
      await sleep(400);
    }
    const shown = await session.reaches('compensated');
    expect(shown.failure).toMatchObject({ kind: 'reported' });
    expect(await session.calledPositions()).toEqual([3, 2, 1]);
  });

  it('meets late reports of a failed session: commit kept and undone, no new call, no completion (C37)', async () => {
    let release = (): void => undefined;
    world.vendor.script('/late/4', { until: new Promise<void>((resolve) => (release = resolve)) });
    const session = await org.booked(['/late/1']);
    for (const path of ['/late/3', '/late/4']) await org.compensation(path);
    const third = await session.bookUnreported(
      '/late/3',
      {},
      { args: { id: { $result: '/booking_id' }, ref: { $args: '/ref' } } },
    );
    await session.book('/late/4');
    await session.fail();
    await session.reaches('compensating');

    const late = await session.commit(third.effect_id, { booking_id: 'late-one' });
    expect([late.status, bodyOf(late)]).toMatchObject([409, { code: 'session_not_active', decision: 'undo' }]);
    const again = await session.commit(third.effect_id, { booking_id: 'late-one' });
    expect(again.status).toBe(409);
    const refused = await session.tryRegister('/late/1');
    expect([refused.status, bodyOf(refused)]).toMatchObject([409, { code: 'session_not_active', decision: 'refuse' }]);
    const completed = await org.post(`${session.path}/complete`);
    expect([completed.status, bodyOf(completed)['code']]).toEqual([409, 'session_not_active']);
    expect((await session.view()).state).toBe('compensating');

    release();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 2, 1]);
    expect(JSON.parse(world.vendor.ledger.at('/late/3')[0]!.body.toString())).toMatchObject({ id: 'late-one' });
    expect(session.standing()).toEqual([]);
  });

  it('is complete for good once it is complete: nothing is undone, nothing fails it', async () => {
    const session = await org.booked(['/kept']);
    expect((await org.post(`${session.path}/complete`)).status).toBe(200);
    const failed = await org.post(`${session.path}/fail`, { reason: 'too late' });
    expect([failed.status, bodyOf(failed)['code']]).toEqual([409, 'session_completed']);
    await sleep(1500);
    expect((await session.view()).state).toBe('completed');
    expect(session.undos()).toEqual([]);
    expect(session.standing()).toHaveLength(1);
  });
});
