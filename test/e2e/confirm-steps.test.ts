import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

const SOON = { timeout: 15_000, interval: 20 };

function confirmAt(world: World, more: object = {}): object {
  return {
    confirm: {
      url: `${world.vendor.url}/record/{args.ref}`,
      done_when: { pointer: '/state', equals: 'cancelled' },
      failed_when: { pointer: '/state', in: ['failed', 'rejected'] },
      budget_ms: 30_000,
      interval_ms: 100,
      ...more,
    },
  };
}

describe.concurrent('an undo that takes its time', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    // One slot: whatever waited in it would hold up all the others.
    world = await openWorld({ name: 'confirm_steps', env: { UNDOLOG_CONCURRENCY: '1' } });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('is followed where its 202 says, to the end; the next entry waits (C57)', async () => {
    const accepted = { status: 202, applies: false, headers: { location: '/jobs/c57' } };
    world.vendor.always('/c57', accepted);
    world.vendor.always('/jobs/c57', { status: 200, body: '{"state": "working"}' });
    const session = await org.booked(['/c57/below', '/c57'], { spec: confirmAt(world) });
    await session.fail();
    await vi.waitFor(() => expect(world.vendor.ledger.at('/jobs/c57').length).toBeGreaterThan(5), SOON);
    expect(world.vendor.ledger.at('/c57/below')).toEqual([]);
    world.vendor.always('/jobs/c57', { status: 200, body: '{"state": "cancelled"}' });
    await session.reaches('compensating');
    world.vendor.cancelQuietly(org.orgId, `${session.id}#1`);
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 1]);
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ proof: 'confirmed' });
    expect(entry!.attempts).toMatchObject([{ status: 202, outcome: 'done' }]);
  });

  it.each([202, 200])(
    'has failed where the record ends so after a %i, at once and without a second call (C57, C70)',
    async (status) => {
      const path = `/ends-failed/${status}`;
      world.vendor.always(path, {
        status,
        applies: false,
        body: '{"status": "pending"}',
        headers: { location: `/jobs${path}` },
      });
      const session = await org.booked([`${path}/below`, path], { spec: confirmAt(world) });
      const record = `/record/${session.id}#2`;
      world.vendor.script(
        record,
        { status: 200, body: '{"state": "pending"}' },
        { status: 200, body: '{"state": "failed"}' },
      );
      await session.fail();
      const shown = await session.reaches('halted');
      expect((await session.stack())[0]).toMatchObject({ state: 'failed', code: 'undo_failed', proof: null });
      expect(await session.calledPositions()).toEqual([2]);
      expect(world.vendor.ledger.at(record)).toHaveLength(2);
      expect(shown.effects_standing.map((effect) => effect.reason)).toEqual(['undo_failed', 'not_undone']);
    },
  );

  it('holds no slot while it waits to be confirmed or looked up', async () => {
    world.vendor.always('/slow-to-show', { applies: false });
    world.vendor.always('/find/slot', { status: 404 });
    const lookup = { url: `${world.vendor.url}/find/slot`, absent_on_status: [404], settle_ms: 20_000 };
    const waiting = await org.booked(['/slow-to-show'], { spec: confirmAt(world, { interval_ms: 2000 }) });
    const lost = await org.open();
    await lost.register('/slot', {}, { fn_name: await org.compensation('/slot', { lookup }) });
    await Promise.all([waiting.fail(), lost.fail()]);
    await vi.waitFor(() => {
      expect(waiting.questionsAbout()).toHaveLength(1);
      expect(lost.questionsAbout()).toHaveLength(1);
    }, SOON);
    const other = await org.booked(['/unhindered/1', '/unhindered/2']);
    await other.fail();
    await other.reaches('compensated', 5000);
    for (const session of [waiting, lost]) {
      const view = await session.view();
      expect([view.state, view.retry_at]).toEqual(['compensating', expect.any(String)]);
    }
    world.vendor.cancelQuietly(org.orgId, `${waiting.id}#1`);
    await waiting.reaches('compensated');
  });
});

describe('a worker that is lost between the vendor’s "done" and its record', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'lost_confirming' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('has not lost the "done": the record is asked on, and the call is not sent again', async () => {
    world.vendor.always('/done-once', { applies: false });
    const session = await org.booked(['/done-once/below', '/done-once'], { spec: confirmAt(world) });
    const record = `/record/${session.id}#2`;
    const booked = { status: 200, body: '{"state": "booked"}' };
    world.vendor.script(record, { ends: 'hang' }, booked, booked, booked);
    await session.fail();
    await vi.waitFor(() => expect(world.vendor.ledger.at(record)).toHaveLength(1), SOON);
    await world.compensator.kill();
    await world.compensator.start();
    await vi.waitFor(() => expect(world.vendor.ledger.at(record).length).toBeGreaterThan(4), SOON);
    world.vendor.cancelQuietly(org.orgId, `${session.id}#2`);
    world.vendor.cancelQuietly(org.orgId, `${session.id}#1`);
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 1]);
    const [entry] = await session.stack();
    expect(entry!.attempts).toMatchObject([{ status: 200, outcome: 'done', error: null }]);
  });
});
