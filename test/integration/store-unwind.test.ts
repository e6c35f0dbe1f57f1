import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Settlement } from '@undolog/shared/domain/verdict';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { renewClaim } from '@undolog/shared/store/renew-claim';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, openStoreWorld, REFUSED, UNCONFIRMED, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_unwind'));
});
afterAll(() => close());

describe('claiming', () => {
  test('only the top entry can be claimed, and only by one worker', async () => {
    const { sessionId, undoIds } = await world.run(3);
    await world.fail(sessionId);
    expect((await world.claim(sessionId, undoIds[0]!)).outcome).toBe('gone');
    expect((await world.claim(sessionId, undoIds[1]!)).outcome).toBe('gone');
    const claims = await Promise.all(Array.from({ length: 10 }, () => world.claim(sessionId, undoIds[2]!)));
    expect(claims.map(({ outcome }) => outcome).toSorted()).toEqual([
      'claimed',
      ...Array.from({ length: 9 }, () => 'held'),
    ]);
  });

  test('nothing of an active or a completed session can be claimed', async () => {
    const { sessionId, undoIds } = await world.run(1);
    expect((await world.claim(sessionId, undoIds[0]!)).outcome).toBe('gone');
  });

  test('C3: a lost worker leaves an unknown try behind, and its budget is not endless', async () => {
    const { sessionId, undoIds } = await world.run(1);
    await world.fail(sessionId);
    for (let attempt = 1; attempt <= 4; attempt++) {
      const entry = await world.mustTry(sessionId, undoIds[0]!, 1);
      expect(entry).toMatchObject({ attempt, sawUnknown: attempt > 1, mayCall: true, attemptOpen: attempt === 1 });
      await sleep(5);
    }
    expect(await world.mustClaim(sessionId, undoIds[0]!)).toMatchObject({
      attempt: 4,
      sawUnknown: true,
      mayCall: false,
    });
    const outcomes = await world.rows<{ outcome: string }>(
      'SELECT outcome FROM undolog_attempts WHERE org_id = $1 AND undo_id = $2 ORDER BY attempt',
      undoIds[0],
    );
    expect(outcomes.map((row) => row.outcome)).toEqual(['unknown', 'unknown', 'unknown', 'unknown']);
  });
});

describe('an entry that is parked', () => {
  const PARKED: Settlement = { kind: 'parked', delayMs: 1, code: 'host_unavailable' };

  test('keeps its budget and its history, however often it is', async () => {
    const { sessionId, undoIds } = await world.run(1);
    await world.fail(sessionId);
    for (let attempt = 1; attempt <= 6; attempt++) {
      const entry = await world.mustTry(sessionId, undoIds[0]!);
      expect(entry).toMatchObject({ attempt, attemptsInRound: 1, mayCall: true });
      expect((await world.settle(entry, PARKED)).outcome).toBe('retry');
      await sleep(5);
    }
    expect(await world.undoStates(sessionId)).toEqual(['running']);
    const [row] = await world.rows<object>(
      'SELECT attempts, round_attempts, saw_unknown, code FROM undolog_undo_stack WHERE org_id = $1 AND undo_id = $2',
      undoIds[0],
    );
    expect(row).toEqual({ attempts: 6, round_attempts: 0, saw_unknown: true, code: 'host_unavailable' });
  });
});

describe('renewing a claim', () => {
  test('prolongs it for its holder and tells one who lost it', async () => {
    const { sessionId, undoIds } = await world.run(1);
    await world.fail(sessionId);
    const stale = await world.mustClaim(sessionId, undoIds[0]!, 1);
    await sleep(5);
    const fresh = await world.mustClaim(sessionId, undoIds[0]!, 1);
    const renew = ({ undoId, fence }: typeof fresh) =>
      world.commits.submit(renewClaim, world.orgId, { sessionId, undoId, fence, leaseMs: 6000 });
    expect(await Promise.all([renew(stale), renew(fresh)])).toEqual(['lost', 'held']);
    expect((await world.claim(sessionId, undoIds[0]!)).outcome).toBe('held');
  });
});

describe('settling', () => {
  test('C1: a worker whose claim was taken over writes nothing', async () => {
    const { sessionId, undoIds } = await world.run(2);
    await world.fail(sessionId);
    const stale = await world.mustClaim(sessionId, undoIds[1]!, 1);
    await sleep(5);
    const fresh = await world.mustClaim(sessionId, undoIds[1]!);
    expect((await world.settle(stale, REFUSED)).outcome).toBe('lost_fence');
    expect(await world.undoStates(sessionId)).toEqual(['running', 'active']);
    expect(await world.settle(fresh, DONE)).toMatchObject({ outcome: 'settled', wake: { undoId: undoIds[0] } });
    expect((await world.settle(fresh, DONE)).outcome).toBe('lost_fence');
  });

  test('a retry keeps the entry on top until its time has come', async () => {
    const { sessionId, undoIds } = await world.run(2);
    await world.fail(sessionId);
    const entry = await world.mustClaim(sessionId, undoIds[1]!);
    const waits = await world.settle(entry, { kind: 'retry', delayMs: 60, code: 'http_503' });
    expect(waits).toEqual({ outcome: 'retry', waitMs: 60 });
    expect((await world.claim(sessionId, undoIds[1]!)).outcome).toBe('not_due');
    expect((await world.claim(sessionId, undoIds[0]!)).outcome).toBe('gone');
    await sleep(80);
    expect(await world.mustClaim(sessionId, undoIds[1]!)).toMatchObject({ attempt: 2, fence: 2 });
  });

  test('C28, C48: policy halt stops at the broken entry, with one dead letter written in the same transaction', async () => {
    const { sessionId, undoIds } = await world.run(3);
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoIds[2]!), DONE);
    const halted = await world.settle(await world.mustClaim(sessionId, undoIds[1]!), REFUSED);
    expect(halted).toMatchObject({ outcome: 'settled', wake: null, ended: { state: 'halted' } });
    expect(await world.undoStates(sessionId)).toEqual(['compensated', 'failed', 'active']);
    const letters = await world.rows(
      'SELECT 1 FROM undolog_dead_letters WHERE org_id = $1 AND session_id = $2',
      sessionId,
    );
    expect(letters).toHaveLength(1);
    expect(await world.fail(sessionId)).toBeNull();
    expect(await world.stateOf(sessionId)).toBe('halted');
  });

  test('policy continue settles the rest and then halts with only the broken entry left', async () => {
    const { sessionId, undoIds } = await world.run(3, { onCompensationFailure: 'continue' });
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoIds[2]!), UNCONFIRMED);
    await world.settle(await world.mustClaim(sessionId, undoIds[1]!), DONE);
    const last = await world.settle(await world.mustClaim(sessionId, undoIds[0]!), DONE);
    expect(last).toMatchObject({ ended: { state: 'halted' } });
    expect(await world.undoStates(sessionId)).toEqual(['unconfirmed', 'compensated', 'compensated']);
  });

  test('C6: a re-drive starts at the broken entry with a fresh budget and goes on counting its tries', async () => {
    const { sessionId, undoIds } = await world.run(2);
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoIds[1]!), UNCONFIRMED);
    expect(await world.retry(sessionId)).toMatchObject({ outcome: 'resumed' });
    const again = await world.mustClaim(sessionId, undoIds[1]!);
    expect(again).toMatchObject({ attempt: 2, attemptsInRound: 1, sawUnknown: true });
    await world.settle(again, DONE);
    await world.settle(await world.mustClaim(sessionId, undoIds[0]!), DONE);
    expect(await world.stateOf(sessionId)).toBe('compensated');
  });

  test('C33: order is by number, not by text or time', async () => {
    const sessionId = await world.open();
    for (const stepIndex of [10, 2, 9, 1, 11]) await world.register(sessionId, { stepIndex });
    const order: number[] = [];
    for (let wake = await world.fail(sessionId); wake;) {
      const entry = await world.mustClaim(sessionId, wake.undoId!);
      const sql = 'SELECT stack_position FROM undolog_undo_stack WHERE org_id = $1 AND undo_id = $2';
      const [row] = await world.rows<{ stack_position: number }>(sql, wake.undoId);
      order.push(row!.stack_position);
      const settled = await world.settle(entry, DONE);
      wake = settled.outcome === 'settled' ? settled.wake : null;
    }
    expect(order).toEqual([11, 10, 9, 2, 1]);
  });
});

describe('ending', () => {
  test('a session without anything to undo is compensated at once; an irreversible effect is skipped and stands', async () => {
    const empty = await world.open();
    expect(await world.fail(empty)).toBeNull();
    expect(await world.stateOf(empty)).toBe('compensated');
    const mailed = await world.open();
    await world.register(mailed, { effectClass: 'irreversible', compensation: null });
    await world.fail(mailed);
    expect(await world.undoStates(mailed)).toEqual(['skipped']);
    expect(await world.stateOf(mailed)).toBe('compensated');
  });

  test('C52: fifty failure reports at once start one unwind', async () => {
    const { sessionId } = await world.run(2);
    const wakes = await Promise.all(Array.from({ length: 50 }, () => world.fail(sessionId)));
    expect(wakes.filter((wake) => wake !== null)).toHaveLength(1);
    const failures = await world.rows(
      `SELECT 1 FROM undolog_audit_log WHERE org_id = $1 AND session_id = $2 AND action = 'session.failed'`,
      sessionId,
    );
    expect(failures).toHaveLength(1);
  });

  test('a report after the lease ran out meets a session that failed by expiry', async () => {
    const sessionId = await world.open({ leaseSeconds: 1 });
    await sleep(1050);
    expect((await world.register(sessionId)).outcome).toBe('session_not_active');
    await world.fail(sessionId, { deadLetterId: uuidv7() });
    const [row] = await world.rows<{ failure_kind: string }>(
      'SELECT failure_kind FROM undolog_sessions WHERE org_id = $1 AND session_id = $2',
      sessionId,
    );
    expect(row!.failure_kind).toBe('lease_expired');
  });
});

describe('the transition tables', () => {
  test('know every move that the SQL has made in this file', async () => {
    const moves = await checkStateMoves(world.database);
    expect(moves.length).toBeGreaterThan(12);
  });

  test('throw, naming both states, at a move that they do not know', async () => {
    const { sessionId } = await world.run(1);
    await world.rows(
      `UPDATE undolog_sessions SET state = 'completed', lease_expires_at = NULL WHERE org_id = $1 AND session_id = $2`,
      sessionId,
    );
    await world.rows(`UPDATE undolog_sessions SET state = 'active' WHERE org_id = $1 AND session_id = $2`, sessionId);
    await expect(checkStateMoves(world.database)).rejects.toThrow(`can't move from completed to active`);
  });
});
