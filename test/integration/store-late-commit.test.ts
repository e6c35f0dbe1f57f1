import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect, type CommitResult } from '@undolog/shared/store/commit-effect';
import { completeSession } from '@undolog/shared/store/complete-session';
import { listDeadLetters } from '@undolog/shared/store/dead-letters';
import { failEffect } from '@undolog/shared/store/fail-effect';
import { readSession } from '@undolog/shared/store/read-session';
import type { RegisterResult } from '@undolog/shared/store/register-effect';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, json, openStoreWorld, REFUSED, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_late_commit'));
});
afterAll(() => close());

type Executed = Extract<RegisterResult, { outcome: 'execute' }>;

async function unreported(): Promise<{ sessionId: string; effectId: string; undoId: string }> {
  const sessionId = await world.open();
  const { effectId, undoId } = (await world.register(sessionId)) as Executed;
  return { sessionId, effectId, undoId: undoId! };
}

const report = (effectId: string): Promise<CommitResult> =>
  world.commits.submit(commitEffect, world.orgId, {
    effectId,
    result: json({ id: 'late' }),
    successorId: uuidv7(),
    deadLetterId: uuidv7(),
    actor: 'test',
  });

describe('C37: a success report that comes after its session failed', () => {
  test('before its entry was started: the entry is bound to the result and undone once', async () => {
    const { sessionId, effectId, undoId } = await unreported();
    await world.fail(sessionId);
    expect(await report(effectId)).toMatchObject({ outcome: 'late', undoId, wake: { undoId } });
    const entry = await world.mustClaim(sessionId, undoId);
    expect(entry).toMatchObject({ effectOutcome: 'committed', result: json({ id: 'late' }) });
    await world.settle(entry, DONE);
    expect(await world.undoStates(sessionId)).toEqual(['compensated']);
  });

  test('after its entry was undone: another entry, under a new undo id, undoes it, and a repeat adds none', async () => {
    const { sessionId, effectId, undoId } = await unreported();
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoId), DONE);
    expect(await world.stateOf(sessionId)).toBe('compensated');
    const late = await report(effectId);
    if (late.outcome !== 'late') throw new Error(late.outcome);
    expect(late.undoId).not.toBe(undoId);
    expect(late.wake).toMatchObject({ sessionId, undoId: late.undoId });
    expect(await world.stateOf(sessionId)).toBe('compensating');
    expect(await report(effectId)).toMatchObject({ outcome: 'late', undoId: late.undoId, wake: null });
    await world.settle(await world.mustClaim(sessionId, late.undoId!), DONE);
    expect(await world.stateOf(sessionId)).toBe('compensated');
    expect(await world.undoStates(sessionId)).toEqual(['compensated', 'compensated']);
  });

  test('after the tool had said that nothing was applied: it is undone all the same', async () => {
    const { sessionId, effectId } = await unreported();
    const failure = { effectId, error: json('no'), applied: 'not_applied' as const, deadLetterId: uuidv7() };
    await world.commits.submit(failEffect, world.orgId, failure);
    await world.fail(sessionId);
    expect(await world.stateOf(sessionId)).toBe('compensated');
    const late = await report(effectId);
    if (late.outcome !== 'late') throw new Error(late.outcome);
    await world.settle(await world.mustClaim(sessionId, late.undoId!), DONE);
    expect(await world.undoStates(sessionId)).toEqual(['compensated', 'skipped']);
  });

  test('while its undo is in flight: another entry follows, also where the session would have ended', async () => {
    const { sessionId, effectId, undoId } = await unreported();
    await world.fail(sessionId);
    const entry = await world.mustClaim(sessionId, undoId);
    expect(await report(effectId)).toMatchObject({ outcome: 'late', undoId, wake: null });
    const settled = await world.settle(entry, DONE);
    if (settled.outcome !== 'settled') throw new Error(settled.outcome);
    expect(settled).toMatchObject({ ended: null, wake: { sessionId } });
    expect(settled.wake!.undoId!).not.toBe(undoId);
    expect(await world.stateOf(sessionId)).toBe('compensating');
    const second = await world.mustClaim(sessionId, settled.wake!.undoId!);
    expect(second).toMatchObject({ effectOutcome: 'committed', result: json({ id: 'late' }), attempt: 1 });
    await world.settle(second, DONE);
    expect(await world.stateOf(sessionId)).toBe('compensated');
    expect(await world.undoStates(sessionId)).toEqual(['compensated', 'compensated']);
  });

  test.each([
    ['refused', REFUSED, 'failed'],
    ['to be repeated', { kind: 'retry', delayMs: 60_000, code: 'http_503' } as const, 'running'],
  ])('while a try of its undo is in flight that ends %s: the new entry is next at once', async (_, verdict, last) => {
    const { sessionId, effectId, undoId } = await unreported();
    await world.fail(sessionId);
    const entry = await world.mustClaim(sessionId, undoId);
    await report(effectId);
    const settled = await world.settle(entry, verdict);
    if (settled.outcome !== 'settled') throw new Error(settled.outcome);
    await world.settle(await world.mustClaim(sessionId, settled.wake!.undoId!), DONE);
    expect(await world.stateOf(sessionId)).toBe('compensated');
    expect(await world.undoStates(sessionId)).toEqual(['compensated', last]);
  });

  test('above an entry that waits for its next try: the one that came back is undone first', async () => {
    const sessionId = await world.open();
    const below = (await world.register(sessionId)) as Executed;
    const above = (await world.register(sessionId)) as Executed;
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, above.undoId!), DONE);
    const running = await world.mustClaim(sessionId, below.undoId!);
    const late = await report(above.effectId);
    if (late.outcome !== 'late') throw new Error(late.outcome);
    expect(await world.claim(sessionId, late.undoId!)).toEqual({ outcome: 'gone' });
    const waits = await world.settle(running, { kind: 'retry', delayMs: 60_000, code: 'http_503' });
    expect(waits).toMatchObject({ outcome: 'settled', wake: { undoId: late.undoId } });
    await world.settle(await world.mustClaim(sessionId, late.undoId!), DONE);
    expect(await world.claim(sessionId, below.undoId!)).toMatchObject({ outcome: 'not_due' });
  });

  test('on the broken entry of a halted session: the letter moves to the new entry and the session stays halted', async () => {
    const { sessionId, effectId, undoId } = await unreported();
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoId), REFUSED);
    const late = await report(effectId);
    if (late.outcome !== 'late') throw new Error(late.outcome);
    expect(late.wake).toBeNull();
    expect(await world.stateOf(sessionId)).toBe('halted');
    const letters = await listDeadLetters(world.database, world.orgId, { limit: 100 });
    expect(letters.filter((letter) => letter.session_id === sessionId)).toMatchObject([
      { state: 'open', undo_id: late.undoId, broken: [], not_undone: [{ undo_id: late.undoId, state: 'active' }] },
    ]);
  });

  test('on a completed session: it is kept, and its effect stands', async () => {
    const { sessionId, effectId } = await unreported();
    const failure = { effectId, error: json('no'), applied: 'not_applied' as const, deadLetterId: uuidv7() };
    await world.commits.submit(failEffect, world.orgId, failure);
    await world.commits.submit(completeSession, world.orgId, { sessionId, leaveUnknown: false, actor: 'test' });
    expect(await report(effectId)).toMatchObject({ outcome: 'late', wake: null });
    expect(await readSession(world.database, world.orgId, sessionId)).toMatchObject({
      state: 'completed',
      effects_standing: [{ effect_id: effectId, outcome: 'committed', reason: 'not_undone' }],
    });
  });

  test('after the lease ran out and before anybody saw it: its effect is undone when the session fails', async () => {
    const { sessionId, effectId } = await unreported();
    const failure = { effectId, error: json('no'), applied: 'not_applied' as const, deadLetterId: uuidv7() };
    await world.commits.submit(failEffect, world.orgId, failure);
    await world.rows(
      'UPDATE undolog_sessions SET lease_expires_at = clock_timestamp() WHERE org_id = $1 AND session_id = $2',
      sessionId,
    );
    const late = await report(effectId);
    expect(late.outcome).toBe('late');
    expect(await world.fail(sessionId)).toMatchObject({ undoId: (late as { undoId: string }).undoId });
  });

  test('makes only moves that the transition tables know', async () => {
    expect(await checkStateMoves(world.database)).not.toEqual([]);
  });
});
