import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takeDueSessions } from '@undolog/shared/store/due-sessions';
import { pauseCompensation } from '@undolog/shared/store/pause-compensation';
import { readStack } from '@undolog/shared/store/read-stack';
import { resumeCompensation, type ResumeResult } from '@undolog/shared/store/resume-compensation';
import { DONE, json, openStoreWorld, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_pause'));
});
afterAll(() => close());

const pause = (fnName = 'cancel', reason = 'their outage', orgId = world.orgId) =>
  world.commits.submit(pauseCompensation, orgId, { fnName, reason: json(reason), actor: 'operator' });
const resume = (fnName = 'cancel'): Promise<ResumeResult> =>
  world.commits.submit(resumeCompensation, world.orgId, { fnName, actor: 'operator' });

const codes = async (sessionId: string): Promise<unknown[]> =>
  (await readStack(world.database, world.orgId, sessionId))!.map(({ state, code }) => [state, code]);

describe('a paused compensation', () => {
  test('has no entry claimed, each keeps its state, and resuming names those to wake', async () => {
    const parked = await world.run(2);
    await world.fail(parked.sessionId);
    const active = await world.run(1);
    expect(await pause()).toEqual({ outcome: 'paused', reason: json('their outage') });
    const top = parked.undoIds[1]!;
    expect(await world.claim(parked.sessionId, top)).toEqual({ outcome: 'paused' });
    expect(await world.stateOf(parked.sessionId)).toBe('failed');
    expect(await codes(parked.sessionId)).toEqual([
      ['active', 'compensation_paused'],
      ['active', 'compensation_paused'],
    ]);
    // Nothing of an active session waits for it, and it may go on registering.
    expect(await codes(active.sessionId)).toEqual([['active', null]]);
    expect((await world.register(active.sessionId)).outcome).toBe('execute');
    expect(await resume()).toEqual({
      outcome: 'resumed',
      wakeUps: [{ orgId: world.orgId, sessionId: parked.sessionId, undoId: top, fence: 0 }],
    });
    expect(await codes(parked.sessionId)).toEqual([
      ['active', null],
      ['active', null],
    ]);
    expect((await world.claim(parked.sessionId, top)).outcome).toBe('claimed');
  });

  test('lets the try under way end, and parks the entry below', async () => {
    const { sessionId, undoIds } = await world.run(2);
    await world.fail(sessionId);
    const entry = await world.mustClaim(sessionId, undoIds[1]!);
    await pause();
    expect(await codes(sessionId)).toEqual([
      ['running', null],
      ['active', 'compensation_paused'],
    ]);
    expect((await world.settle(entry, DONE)).outcome).toBe('settled');
    expect((await world.claim(sessionId, undoIds[0]!)).outcome).toBe('paused');
    await resume();
  });

  test('is left alone by the sweep, and found by it once it is resumed', async () => {
    const { sessionId, undoIds } = await world.run(1);
    await world.fail(sessionId);
    const due = async (): Promise<(string | null)[]> => {
      await world.rows(
        `UPDATE undolog_sessions SET wake_at = '-infinity' WHERE org_id = $1 AND session_id = $2`,
        sessionId,
      );
      return (await takeDueSessions(world.database, 500, 1)).wakeUps.map(({ undoId }) => undoId);
    };
    await pause();
    expect(await due()).not.toContain(undoIds[0]);
    await resume();
    expect(await due()).toContain(undoIds[0]);
  });

  test('keeps the first reason, and each pause and each resumption is audited once', async () => {
    await pause('cancel', 'first');
    expect(await pause('cancel', 'second')).toEqual({ outcome: 'paused', reason: json('first') });
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect(await resume()).toEqual({ outcome: 'resumed', wakeUps: [] });
    const audit = await world.rows<{ action: string; fn_name: string; actor: string }>(
      `SELECT action, fn_name, actor FROM undolog_audit_log
      WHERE org_id = $1 AND action LIKE 'compensation.%' ORDER BY seq DESC LIMIT 2`,
    );
    expect(audit.toReversed()).toEqual([
      { action: 'compensation.paused', fn_name: 'cancel', actor: 'operator' },
      { action: 'compensation.resumed', fn_name: 'cancel', actor: 'operator' },
    ]);
  });

  test('must be registered', async () => {
    expect([await pause('nobody'), await resume('nobody')]).toEqual([
      { outcome: 'not_found' },
      { outcome: 'not_found' },
    ]);
  });
});
