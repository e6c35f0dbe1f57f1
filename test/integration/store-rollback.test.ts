import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect, type CommitResult } from '@undolog/shared/store/commit-effect';
import { completeSession } from '@undolog/shared/store/complete-session';
import { failEffect } from '@undolog/shared/store/fail-effect';
import { heartbeat } from '@undolog/shared/store/heartbeat';
import { listDeadLetters, type DeadLetterView } from '@undolog/shared/store/dead-letters';
import { readSession, type SessionView } from '@undolog/shared/store/read-session';
import type { RegisterResult } from '@undolog/shared/store/register-effect';
import { rollBackSession, type RollBackResult } from '@undolog/shared/store/roll-back-session';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, json, openStoreWorld, REFUSED, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_rollback'));
});
afterAll(() => close());

type Executed = Extract<RegisterResult, { outcome: 'execute' }>;

const registered = async (sessionId: string, more = {}): Promise<Executed> =>
  (await world.register(sessionId, more)) as Executed;

const report = (effectId: string): Promise<CommitResult> =>
  world.commits.submit(commitEffect, world.orgId, {
    effectId,
    result: json({ id: 'reported' }),
    successorId: uuidv7(),
    deadLetterId: uuidv7(),
    actor: 'test',
  });

const rollBack = (sessionId: string, toPosition: number): Promise<RollBackResult> =>
  world.commits.submit(rollBackSession, world.orgId, {
    sessionId,
    toPosition,
    actor: 'test',
    deadLetterId: uuidv7(),
  });

const view = async (sessionId: string): Promise<SessionView> =>
  (await readSession(world.database, world.orgId, sessionId))!;

const undo = async (sessionId: string, undoId: string): Promise<void> => {
  await world.settle(await world.mustClaim(sessionId, undoId), DONE);
};

const lettersOf = async (sessionId: string): Promise<DeadLetterView[]> => {
  const letters = await listDeadLetters(world.database, world.orgId, { limit: 100 });
  return letters.filter((letter) => letter.session_id === sessionId);
};

describe('a rollback', () => {
  test('undoes what is above the position, from the top, and leaves the session active with a new lease', async () => {
    const { sessionId, undoIds } = await world.run(4);
    const accepted = await rollBack(sessionId, 2);
    expect(accepted).toMatchObject({ outcome: 'accepted', state: 'compensating', wake: { undoId: undoIds[3] } });
    expect(await view(sessionId)).toMatchObject({ rollback_to: 2, lease_expires_at: null, failure: null });
    expect((await world.register(sessionId)).outcome).toBe('session_not_active');
    expect(await rollBack(sessionId, 1)).toEqual({ outcome: 'session_not_active' });
    await undo(sessionId, undoIds[3]!);
    expect((await world.claim(sessionId, undoIds[1]!)).outcome).toBe('gone');
    await undo(sessionId, undoIds[2]!);
    const after = await view(sessionId);
    expect(after).toMatchObject({ state: 'active', rollback_to: null, effects_standing: [] });
    expect(after.lease_expires_at).not.toBeNull();
    expect(await world.undoStates(sessionId)).toEqual(['compensated', 'compensated', 'active', 'active']);
    expect(await registered(sessionId)).toMatchObject({ stackPosition: 5 });
    expect(await world.commits.submit(heartbeat, world.orgId, { sessionId })).toMatchObject({ outcome: 'renewed' });
  });

  test('with nothing above leaves the session active at once', async () => {
    const { sessionId } = await world.run(2);
    expect(await rollBack(sessionId, 2)).toEqual({ outcome: 'accepted', state: 'active', wake: null });
    expect(await view(sessionId)).toMatchObject({ state: 'active', rollback_to: null });
    expect((await world.register(sessionId)).outcome).toBe('execute');
  });

  test('is refused where the session is not active, or not there', async () => {
    const { sessionId } = await world.run(1);
    await world.fail(sessionId);
    expect(await rollBack(sessionId, 0)).toEqual({ outcome: 'session_not_active' });
    expect(await rollBack('nobody', 0)).toEqual({ outcome: 'session_not_found' });
  });

  test('does not restart the age limit: a session that came of age meanwhile has expired once it is active', async () => {
    const { sessionId, undoIds } = await world.run(1, { maxAgeSeconds: 100 });
    await rollBack(sessionId, -1);
    await world.rows(
      `UPDATE undolog_sessions SET created_at = created_at - interval '200 seconds' WHERE org_id = $1 AND session_id = $2`,
      sessionId,
    );
    await undo(sessionId, undoIds[0]!);
    expect((await view(sessionId)).state).toBe('active');
    expect((await world.register(sessionId)).outcome).toBe('session_not_active');
    await world.fail(sessionId, { kind: 'lease_expired', reason: null });
    expect((await view(sessionId)).failure).toMatchObject({ kind: 'lease_expired', reason: json('max_age_exceeded') });
  });

  test('passes an irreversible effect by, which stands, and does not hold up the completion', async () => {
    const sessionId = await world.open();
    const { effectId } = await registered(sessionId, { effectClass: 'irreversible', compensation: null });
    expect(await rollBack(sessionId, 0)).toMatchObject({ state: 'active' });
    expect((await view(sessionId)).effects_standing).toMatchObject([
      { effect_id: effectId, reason: json('irreversible') },
    ]);
    const completed = await world.commits.submit(completeSession, world.orgId, {
      sessionId,
      leaveUnknown: false,
      actor: 'test',
    });
    expect(completed.outcome).toBe('completed');
  });
});

describe('reports during and after a rollback', () => {
  test('a commit at or below the position is an ordinary one, also after `not_applied`', async () => {
    const sessionId = await world.open();
    const [one, two, three] = [await registered(sessionId), await registered(sessionId), await registered(sessionId)];
    const failure = { effectId: two.effectId, error: json('no'), applied: 'not_applied' as const };
    await world.commits.submit(failEffect, world.orgId, { ...failure, deadLetterId: uuidv7() });
    await rollBack(sessionId, 2);
    expect((await report(one.effectId)).outcome).toBe('committed');
    expect((await report(two.effectId)).outcome).toBe('committed');
    expect(await report(three.effectId)).toMatchObject({ outcome: 'late', undoId: three.undoId });
    expect(await world.mustClaim(sessionId, three.undoId!)).toMatchObject({ effectOutcome: 'committed' });
  });

  test('a commit above, after its undo, is undone again in the same rollback', async () => {
    const sessionId = await world.open();
    const [, two, three] = [await registered(sessionId), await registered(sessionId), await registered(sessionId)];
    await rollBack(sessionId, 1);
    await undo(sessionId, three.undoId!);
    const late = await report(three.effectId);
    if (late.outcome !== 'late') throw new Error(late.outcome);
    expect(late.wake).toMatchObject({ undoId: late.undoId });
    await undo(sessionId, late.undoId!);
    await undo(sessionId, two.undoId!);
    expect((await view(sessionId)).state).toBe('active');
  });

  test('a commit above, once the session is active again, has that entry alone undone', async () => {
    const sessionId = await world.open();
    const [below, gone] = [await registered(sessionId), await registered(sessionId)];
    await rollBack(sessionId, 1);
    await undo(sessionId, gone.undoId!);
    const later = await registered(sessionId);
    const late = await report(gone.effectId);
    if (late.outcome !== 'late') throw new Error(late.outcome);
    expect(late.wake).toMatchObject({ undoId: late.undoId });
    expect(await view(sessionId)).toMatchObject({ state: 'compensating', lease_expires_at: null });
    expect((await world.register(sessionId)).outcome).toBe('session_not_active');
    // What was registered after the rollback is no part of it.
    expect((await report(later.effectId)).outcome).toBe('committed');
    await undo(sessionId, late.undoId!);
    expect(await view(sessionId)).toMatchObject({ state: 'active', rollback_to: null, effects_standing: [] });
    expect(await report(gone.effectId)).toMatchObject({ outcome: 'late', wake: null });
    expect((await report(below.effectId)).outcome).toBe('committed');
    expect(await world.undoStates(sessionId)).toEqual(['active', 'compensated', 'compensated', 'active']);
  });
});

describe('a failure during a rollback', () => {
  test('makes it a full unwind, of which the try in flight is the first', async () => {
    const { sessionId, undoIds } = await world.run(3);
    await rollBack(sessionId, 1);
    const entry = await world.mustClaim(sessionId, undoIds[2]!);
    expect(await world.fail(sessionId)).toBeNull();
    expect(await view(sessionId)).toMatchObject({
      state: 'compensating',
      rollback_to: null,
      failure: { kind: 'reported' },
    });
    await world.settle(entry, DONE);
    await undo(sessionId, undoIds[1]!);
    await undo(sessionId, undoIds[0]!);
    expect(await world.stateOf(sessionId)).toBe('compensated');
  });

  test('while a late entry alone is undone, takes what was registered above it first', async () => {
    const sessionId = await world.open();
    const gone = await registered(sessionId);
    await rollBack(sessionId, 0);
    await undo(sessionId, gone.undoId!);
    const later = await registered(sessionId);
    const late = await report(gone.effectId);
    expect(await world.fail(sessionId)).toMatchObject({ undoId: later.undoId });
    await undo(sessionId, later.undoId!);
    await undo(sessionId, (late as { undoId: string }).undoId);
    expect(await world.stateOf(sessionId)).toBe('compensated');
  });

  test('while it is halted under `halt`: it stays halted, and a new round goes on to the bottom', async () => {
    const { sessionId, undoIds } = await world.run(2);
    await rollBack(sessionId, 1);
    await world.settle(await world.mustClaim(sessionId, undoIds[1]!), REFUSED);
    expect(await view(sessionId)).toMatchObject({ state: 'halted', rollback_to: 1 });
    expect(await lettersOf(sessionId)).toMatchObject([{ broken: [{ undo_id: undoIds[1] }], not_undone: [] }]);
    await world.fail(sessionId);
    expect(await view(sessionId)).toMatchObject({ state: 'halted', rollback_to: null, failure: { kind: 'reported' } });
    expect(await lettersOf(sessionId)).toMatchObject([{ state: 'open', not_undone: [{ undo_id: undoIds[0] }] }]);
    await world.retry(sessionId);
    await undo(sessionId, undoIds[1]!);
    await undo(sessionId, undoIds[0]!);
    expect(await world.stateOf(sessionId)).toBe('compensated');
  });

  test('while it is halted under `continue`: the rest is undone, and it halts with the broken one left', async () => {
    const { sessionId, undoIds } = await world.run(2, { onCompensationFailure: 'continue' });
    await rollBack(sessionId, 1);
    await world.settle(await world.mustClaim(sessionId, undoIds[1]!), REFUSED);
    expect(await world.stateOf(sessionId)).toBe('halted');
    expect(await world.fail(sessionId)).toMatchObject({ undoId: undoIds[0] });
    await undo(sessionId, undoIds[0]!);
    expect(await world.stateOf(sessionId)).toBe('halted');
    expect((await lettersOf(sessionId)).map((letter) => letter.state)).toEqual(['open', 'closed']);
  });

  test('makes only moves that the transition tables know', async () => {
    expect(await checkStateMoves(world.database)).not.toEqual([]);
  });
});
