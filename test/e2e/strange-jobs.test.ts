import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { addByHand, obliterateQueue, queuedWakeUps } from '../support/queue-look.js';
import { openWorld, type World } from '../support/world.js';

describe('a job in the queue only wakes: it decides nothing', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'strange_jobs', compensators: 2 });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const emptied = (): Promise<void> =>
    expect.poll(() => queuedWakeUps(world).then((jobs) => jobs.length), { timeout: 10_000 }).toBe(0);

  it('one of a session that is not there, or not yet, is dropped without a call (C58)', async () => {
    const callsBefore = world.vendor.ledger.calls.length;
    await addByHand(world, { org_id: org.orgId, session_id: 'never-committed', undo_id: uuidv7() });
    await addByHand(world, { org_id: uuidv7(), session_id: 'of no org', undo_id: uuidv7() });
    // Seen before its row is committed: the session can still be made, failed and undone.
    await emptied();
    expect(world.vendor.ledger.calls).toHaveLength(callsBefore);
    const session = await org.open({ session_id: 'never-committed' });
    await org.compensation('/ghost');
    await session.book('/ghost');
    await session.fail();
    await session.reaches('compensated');
    expect(session.undos()).toHaveLength(1);
  });

  it('one whose turn has not come, or is over, or never comes, makes no call (C13, C58)', async () => {
    let answer = (): void => undefined;
    world.vendor.script('/turn/3', { until: new Promise<void>((resolve) => (answer = resolve)) });
    const failed = await org.booked(['/turn/1', '/turn/2', '/turn/3', '/turn/4']);
    const active = await org.booked(['/turn/active']);
    const completed = await org.booked(['/turn/completed']);
    await org.post(`${completed.path}/complete`);
    await failed.fail();
    await expect.poll(() => world.vendor.ledger.at('/turn/3').length, { timeout: 10_000 }).toBe(1);
    for (const session of [failed, active, completed]) {
      for (const entry of await session.stack()) {
        await addByHand(world, { org_id: org.orgId, session_id: session.id, undo_id: entry.undo_id });
      }
    }
    // Enough for a worker to take them all.
    await sleep(1500);
    expect(await failed.calledPositions()).toEqual([4, 3]);
    answer();
    await failed.reaches('compensated');
    expect(await failed.calledPositions()).toEqual([4, 3, 2, 1]);
    expect(await failed.faults()).toEqual([]);
    expect(active.undos()).toEqual([]);
    expect(completed.undos()).toEqual([]);
  });

  it('many for one entry at once make one call (C61)', async () => {
    world.vendor.always('/doubled', { delayMs: 200 });
    const sessions = await Promise.all([1, 2, 3, 4].map(() => org.booked(['/doubled', '/doubled'])));
    for (const session of sessions) {
      const [top] = await session.stack();
      const data = { org_id: org.orgId, session_id: session.id, undo_id: top!.undo_id };
      await Promise.all([session.fail(), ...Array.from({ length: 10 }, () => addByHand(world, data))]);
    }
    for (const session of sessions) {
      await session.reaches('compensated');
      expect(await session.calledPositions()).toEqual([2, 1]);
      expect(await session.faults()).toEqual([]);
    }
    await emptied();
  });

  it('one that is not ours, or of another shape, is dropped and stops nobody (C16)', async () => {
    for (const data of [null, 'text', {}, { org_id: 'x' }, { org_id: org.orgId, session_id: '', undo_id: 'no uuid' }]) {
      await addByHand(world, data, { attempts: 3 });
    }
    const session = await org.booked(['/beside-strangers']);
    await session.fail();
    await session.reaches('compensated');
    await emptied();
    for (const one of world.compensators) expect((await one.readiness()).status).toBe(200);
  });

  it('one that names a backoff nobody knows still leads to the retry (C11)', async () => {
    world.vendor.script('/unknown-backoff', { status: 503 });
    const session = await org.booked(['/unknown-backoff']);
    // It is there first, so that it is this job which meets the 503.
    const [top] = await session.stack();
    await world.rows(
      `UPDATE undolog_sessions SET state = 'failed', failed_at = now(), failure_kind = 'reported', failure_reason = '"x"',
        lease_expires_at = NULL, wake_at = now() + interval '3 seconds', top_undo_id = $2 WHERE session_id = $1`,
      session.id,
      top!.undo_id,
    );
    await addByHand(
      world,
      { org_id: org.orgId, session_id: session.id, undo_id: top!.undo_id },
      { attempts: 5, backoff: { type: 'from an older version', delay: 10 } },
    );
    await session.reaches('compensated');
    expect(session.undos().map((call) => call.attempt)).toEqual([1, 2]);
  });

  it('one may be lost from under a worker’s hands without a second key or an order broken (C3)', async () => {
    world.vendor.always('/removed', { delayMs: 300 });
    const sessions = await Promise.all([1, 2, 3].map(() => org.booked(['/removed', '/removed', '/removed'])));
    await Promise.all(sessions.map((session) => session.fail()));
    await expect.poll(() => world.vendor.ledger.at('/removed').length, { timeout: 10_000 }).toBeGreaterThan(2);
    await obliterateQueue(world);
    for (const session of sessions) {
      await session.reaches('compensated');
      expect(await session.faults()).toEqual([]);
      expect(await session.calledPositions()).toEqual([3, 2, 1]);
    }
  });
});
