import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_LOST_ASKERS } from '@undolog/shared/domain/limits';
import type { Settlement } from '@undolog/shared/domain/verdict';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { recordDone } from '@undolog/shared/store/record-done';
import { settleEntry } from '@undolog/shared/store/settle-entries';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, json, openStoreWorld, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_steps'));
});
afterAll(() => close());

/** A failed session with one effect, committed or never reported. */
async function failed(committed: boolean): Promise<{ sessionId: string; undoId: string; effectId: string }> {
  const sessionId = await world.open();
  const effect = await world.register(sessionId);
  if (effect.outcome !== 'execute') throw new Error(effect.outcome);
  if (committed) await commit(effect.effectId);
  await world.fail(sessionId);
  return { sessionId, undoId: effect.undoId!, effectId: effect.effectId };
}

function commit(effectId: string) {
  const ids = { successorId: uuidv7(), deadLetterId: uuidv7() };
  return world.commits.submit(commitEffect, world.orgId, { effectId, result: json({ id: 1 }), actor: 'test', ...ids });
}

/** Settles a step in which nothing was called. */
function settle({ sessionId, undoId, fence }: ClaimedEntry, settlement: Settlement) {
  const input = { sessionId, undoId, fence, attempt: null, settlement, deadLetterId: uuidv7() };
  return world.commits.submit(settleEntry, world.orgId, input);
}

function attempts(undoId: string) {
  const sql = 'SELECT attempt, outcome, status FROM undolog_attempts WHERE org_id = $1 AND undo_id = $2';
  return world.rows<{ attempt: number; outcome: string | null; status: number | null }>(sql, undoId);
}

const again = (looked?: 'absent' | 'failed'): Settlement => ({
  kind: 'retry',
  delayMs: 1,
  code: null,
  ...(looked && { looked }),
});

describe('an undo that the vendor called done', () => {
  const done = ({ sessionId, undoId, fence }: ClaimedEntry, location: string | null = null) =>
    world.commits.submit(recordDone, world.orgId, {
      sessionId,
      undoId,
      fence,
      location,
      status: 202,
      durationMs: 5,
      budgetMs: 60_000,
    });

  test('is only asked about from then on, also when its worker is lost, and its budget runs from the first done', async () => {
    const { sessionId, undoId } = await failed(true);
    const first = await world.mustClaim(sessionId, undoId, 1);
    expect(first).toMatchObject({ attempt: 1, attemptOpen: true, confirming: null });
    expect(await done(first, 'https://vendor.test/jobs/7')).toBe('recorded');
    await sleep(5);
    let leftMs = 60_000;
    for (let n = 0; n < 2; n++) {
      const next = await world.mustClaim(sessionId, undoId, 1);
      expect(next).toMatchObject({ attemptOpen: false, sawUnknown: false, attemptsInRound: 2 });
      expect(next.confirming).toMatchObject({ location: 'https://vendor.test/jobs/7' });
      expect(next.confirming!.leftMs).toBeLessThan(leftMs);
      leftMs = next.confirming!.leftMs;
      await sleep(5);
    }
    const last = await world.mustClaim(sessionId, undoId);
    expect((await settle(last, again())).outcome).toBe('retry');
    await sleep(5);
    const after = await world.mustClaim(sessionId, undoId);
    expect(after.confirming!.leftMs).toBeLessThan(leftMs);
    expect(await settle(after, { kind: 'settled', state: 'compensated', proof: 'confirmed' })).toMatchObject({
      ended: { state: 'compensated' },
    });
    expect(await attempts(undoId)).toEqual([{ attempt: 1, outcome: 'done', status: 202 }]);
  });

  test('is not kept for a worker whose claim was taken over', async () => {
    const { sessionId, undoId } = await failed(true);
    const stale = await world.mustClaim(sessionId, undoId, 1);
    await sleep(5);
    const fresh = await world.mustClaim(sessionId, undoId);
    expect(await done(stale)).toBe('lost_fence');
    expect(await world.openAttempt(stale)).toBe('lost_fence');
    expect(await world.openAttempt(fresh)).toBe('opened');
    expect(await world.openAttempt(fresh)).toBe('lost_fence');
    expect((await attempts(undoId)).map(({ outcome }) => outcome)).toEqual(['unknown', null]);
  });
});

describe('looking for an effect that nobody reported', () => {
  test('is no attempt; what it came to is remembered until the entry is settled', async () => {
    const { sessionId, undoId } = await failed(false);
    const first = await world.mustClaim(sessionId, undoId);
    expect(first).toMatchObject({ attempt: 1, attemptOpen: false, lookups: { absentForMs: null, failed: 0 } });
    await settle(first, again('failed'));
    await sleep(5);
    await settle(await world.mustClaim(sessionId, undoId), again('absent'));
    await sleep(5);
    const third = await world.mustClaim(sessionId, undoId);
    const { absentForMs } = third.lookups;
    expect(absentForMs).toBeGreaterThan(0);
    await settle(third, again('absent'));
    await sleep(5);
    const fourth = await world.mustClaim(sessionId, undoId);
    expect(fourth).toMatchObject({ attempt: 1, attemptsInRound: 1, sawUnknown: false, lookups: { failed: 1 } });
    expect(fourth.lookups.absentForMs).toBeGreaterThan(absentForMs!);
    expect(await attempts(undoId)).toEqual([]);
    await settle(fourth, { kind: 'settled', state: 'skipped', reason: 'effect_absent' });
    expect(await world.undoStates(sessionId)).toEqual(['skipped']);
    expect(await world.stateOf(sessionId)).toBe('compensated');
  });

  test('keeps what it found with the first try, and every later try has the same', async () => {
    const { sessionId, undoId } = await failed(false);
    const first = await world.mustClaim(sessionId, undoId, 1);
    expect(await world.openAttempt(first, { found: json({ id: 'a' }), leaseMs: 1 })).toBe('opened');
    await sleep(5);
    const second = await world.mustClaim(sessionId, undoId);
    expect(second).toMatchObject({
      found: true,
      result: json({ id: 'a' }),
      effectOutcome: 'unknown',
      sawUnknown: true,
    });
    expect(await world.openAttempt(second, { found: json({ id: 'b' }) })).toBe('opened');
    await world.settle(second, { kind: 'retry', delayMs: 1, code: 'http_503' });
    await sleep(5);
    expect((await world.mustClaim(sessionId, undoId)).result).toEqual(json({ id: 'a' }));
  });

  test('is overruled by a success report that came while it asked: the effect is not skipped', async () => {
    const { sessionId, undoId, effectId } = await failed(false);
    const asking = await world.mustClaim(sessionId, undoId);
    expect((await commit(effectId)).outcome).toBe('late');
    await settle(asking, { kind: 'settled', state: 'skipped', reason: 'effect_absent' });
    const top = 'SELECT top_undo_id FROM undolog_sessions WHERE org_id = $1 AND session_id = $2';
    const [{ top_undo_id: next }] = (await world.rows<{ top_undo_id: string }>(top, sessionId)) as [
      { top_undo_id: string },
    ];
    await sleep(5);
    const entry = await world.mustClaim(sessionId, next);
    expect(entry).toMatchObject({ effectOutcome: 'committed', result: json({ id: 1 }), attemptOpen: true });
    await world.settle(entry, DONE);
    expect(await world.stateOf(sessionId)).toBe('compensated');
  });

  test('ends when every worker that asks is lost, though none of them made an attempt', async () => {
    const { sessionId, undoId } = await failed(false);
    for (let n = 0; n <= MAX_LOST_ASKERS; n++) {
      expect((await world.mustClaim(sessionId, undoId, 0)).mayAsk).toBe(true);
    }
    const last = await world.mustClaim(sessionId, undoId);
    expect(last).toMatchObject({ mayAsk: false, attempt: 1 });
    await settle(last, again());
    await sleep(5);
    expect((await world.mustClaim(sessionId, undoId)).mayAsk).toBe(true);
    expect(await attempts(undoId)).toEqual([]);
  });
});

test('the transition tables know every move that the SQL has made in this file', async () => {
  expect((await checkStateMoves(world.database)).length).toBeGreaterThan(5);
});
