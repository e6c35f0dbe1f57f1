import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect, type CommitResult } from '@undolog/shared/store/commit-effect';
import { failEffect } from '@undolog/shared/store/fail-effect';
import type { RegisterResult } from '@undolog/shared/store/register-effect';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, json, openStoreWorld, type StoreWorld } from '../support/store-world.js';

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
    expect(await report(effectId)).toMatchObject({ outcome: 'late', undoId, wake: null });
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

  test('makes only moves that the transition tables know', async () => {
    expect(await checkStateMoves(world.database)).not.toEqual([]);
  });
});
