import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WakeUp } from '@undolog/shared/domain/wake-up';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { completeSession } from '@undolog/shared/store/complete-session';
import { listDeadLetters } from '@undolog/shared/store/dead-letters';
import { takeDueSessions } from '@undolog/shared/store/due-sessions';
import { failEffect } from '@undolog/shared/store/fail-effect';
import { followFamily } from '@undolog/shared/store/follow-family';
import { openSession, type OpenSession } from '@undolog/shared/store/open-session';
import { planSession } from '@undolog/shared/store/plan-unwind';
import { readSession } from '@undolog/shared/store/read-session';
import type { RegisterResult } from '@undolog/shared/store/register-effect';
import { rollBackSession } from '@undolog/shared/store/roll-back-session';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, json, openStoreWorld, REFUSED, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_family'));
});
afterAll(() => close());

interface Ran {
  readonly sessionId: string;
  readonly undoIds: string[];
}

const childOf = (parent: Ran, position: number, effects = 1, more: Partial<OpenSession> = {}): Promise<Ran> =>
  world.run(effects, { parent: { sessionId: parent.sessionId, position }, ...more });

const complete = async ({ sessionId }: Ran): Promise<void> => {
  await world.commits.submit(completeSession, world.orgId, { sessionId, leaveUnknown: false, actor: 'test' });
};

/** Does what workers do with a wake-up and what follows from it. @returns the entries that were undone, in order. */
async function unwind(wake: WakeUp | null, refuse: readonly string[] = []): Promise<string[]> {
  const undone: string[] = [];
  for (let next = wake; next;) {
    const { sessionId, undoId } = next;
    if (undoId === null) {
      const input = { sessionId, deadLetterId: uuidv7() };
      next = (await world.commits.submit(followFamily, world.orgId, input)).wake;
      continue;
    }
    undone.push(undoId);
    const verdict = refuse.includes(undoId) ? REFUSED : DONE;
    const settled = await world.settle(await world.mustClaim(sessionId, undoId), verdict);
    if (settled.outcome !== 'settled') throw new Error(settled.outcome);
    next = settled.wake;
  }
  return undone;
}

describe('C46: a session that has children', () => {
  test('unwinds each whole just before its own entry at that position, whatever the child had come to', async () => {
    const parent = await world.run(4);
    const active = await childOf(parent, 3, 2);
    const completed = await childOf(parent, 2, 2);
    const grandchild = await childOf(completed, 1);
    await complete(completed);
    const failed = await childOf(parent, 2);
    const underWay = await world.fail(failed.sessionId);
    const empty = await childOf(parent, 1, 0);
    const [p1, p2, p3, p4] = parent.undoIds;
    const expected = [
      p4,
      ...active.undoIds.toReversed(),
      p3,
      ...failed.undoIds,
      completed.undoIds[1],
      ...grandchild.undoIds,
      completed.undoIds[0],
      p2,
      p1,
    ];
    const planned = await planSession(world.database, world.orgId, parent.sessionId, -1);
    expect(planned!.plan.steps.map((step) => step.undo_id)).toEqual(expected);
    // A child whose own unwind has begun is waited for; its worker has been woken before.
    const first = await unwind(await world.fail(parent.sessionId));
    expect([...first, ...(await unwind(underWay))]).toEqual(expected);
    for (const { sessionId } of [parent, active, completed, grandchild, failed, empty]) {
      expect(await world.stateOf(sessionId)).toBe('compensated');
    }
    const shown = await readSession(world.database, world.orgId, completed.sessionId);
    expect(shown).toMatchObject({ failure: { kind: 'parent' }, fully_compensated: true });
    expect(shown!.parent).toEqual({ session_id: parent.sessionId, stack_position: 2 });
  });

  test('undoes what a completed child was told of late, though its entry was skipped before', async () => {
    const parent = await world.run(1);
    const child = await childOf(parent, 1, 0);
    const { effectId } = (await world.register(child.sessionId)) as Extract<RegisterResult, { outcome: 'execute' }>;
    const ids = { deadLetterId: uuidv7(), successorId: uuidv7() };
    await world.commits.submit(failEffect, world.orgId, {
      ...ids,
      effectId,
      error: json('no'),
      applied: 'not_applied',
    });
    await complete(child);
    const report = { ...ids, effectId, result: json({ id: 'late' }), actor: 'test' };
    const late = await world.commits.submit(commitEffect, world.orgId, report);
    expect(late).toMatchObject({ outcome: 'late', wake: null });
    expect(await world.stateOf(child.sessionId)).toBe('completed');
    const standing = (await readSession(world.database, world.orgId, child.sessionId))!.effects_standing;
    expect(standing).toMatchObject([{ effect_id: effectId, outcome: 'committed' }]);
    const undone = await unwind(await world.fail(parent.sessionId));
    expect(undone).toEqual([(late as { undoId: string }).undoId, ...parent.undoIds]);
    const shown = await readSession(world.database, world.orgId, child.sessionId);
    expect(shown).toMatchObject({ state: 'compensated', fully_compensated: true });
  });

  test('unwinds a child also where it has no entry of its own at that position, or none at all', async () => {
    const parent = await world.run(0);
    const child = await childOf(parent, 7);
    expect(await unwind(await world.fail(parent.sessionId))).toEqual(child.undoIds);
    expect(await world.stateOf(parent.sessionId)).toBe('compensated');
  });

  test('halts when a child is halted; once that is undone, a new round goes on', async () => {
    const parent = await world.run(2);
    const child = await childOf(parent, 2);
    const [broken] = child.undoIds;
    expect(await unwind(await world.fail(parent.sessionId), [broken!])).toEqual([broken]);
    expect(await world.stateOf(child.sessionId)).toBe('halted');
    expect(await world.stateOf(parent.sessionId)).toBe('halted');
    const letters = await listDeadLetters(world.database, world.orgId, { limit: 100 });
    expect(letters.find((letter) => letter.session_id === parent.sessionId)).toMatchObject({
      code: 'child_halted',
      undo_id: null,
      child_session_id: child.sessionId,
      stack_position: 2,
      broken: [],
    });
    await world.retry(child.sessionId);
    expect(await unwind({ orgId: world.orgId, sessionId: child.sessionId, undoId: broken!, fence: 9 })).toEqual([
      broken,
    ]);
    expect(await world.stateOf(parent.sessionId)).toBe('halted');
    const resumed = await world.retry(parent.sessionId);
    if (!resumed || resumed.outcome !== 'resumed') throw new Error('the parent was not resumed');
    expect(await unwind(resumed.wake)).toEqual(parent.undoIds.toReversed());
    expect(await world.stateOf(parent.sessionId)).toBe('compensated');
  });

  test('that is rolled back unwinds those above the position, and leaves those below as they are', async () => {
    const parent = await world.run(2);
    const below = await childOf(parent, 1);
    const above = await childOf(parent, 2);
    await complete(above);
    const input = { sessionId: parent.sessionId, toPosition: 1, actor: 'test', deadLetterId: uuidv7() };
    const result = await world.commits.submit(rollBackSession, world.orgId, input);
    if (result.outcome !== 'accepted') throw new Error(result.outcome);
    expect(await unwind(result.wake)).toEqual([...above.undoIds, parent.undoIds[1]]);
    expect(await world.stateOf(parent.sessionId)).toBe('active');
    expect(await world.stateOf(below.sessionId)).toBe('active');
    expect(await world.stateOf(above.sessionId)).toBe('compensated');
  });

  test('is found by the sweep when the wake-up call for a child, or of its end, was lost', async () => {
    const parent = await world.run(1);
    const child = await childOf(parent, 1);
    const lost = await world.fail(parent.sessionId);
    expect(lost).toMatchObject({ sessionId: child.sessionId, undoId: null });
    const found = async (): Promise<WakeUp | undefined> => {
      await world.rows(
        `UPDATE undolog_sessions SET wake_at = '-infinity' WHERE org_id = $1 AND session_id = $2`,
        parent.sessionId,
      );
      const { wakeUps } = await takeDueSessions(world.database, 500, 1);
      return wakeUps.find(({ sessionId }) => sessionId === parent.sessionId);
    };
    expect(await unwind((await found())!)).toEqual([...child.undoIds, ...parent.undoIds]);
  });

  test('is left alone by the end of a child while it is active itself', async () => {
    const parent = await world.run(1);
    const child = await childOf(parent, 1);
    expect(await unwind(await world.fail(child.sessionId))).toEqual(child.undoIds);
    expect(await world.stateOf(parent.sessionId)).toBe('active');
    expect(await unwind(await world.fail(parent.sessionId))).toEqual(parent.undoIds);
  });

  test('waits for nobody in a circle: trees that fail from every side at once all end', async () => {
    const parent = await world.run(2);
    const children = [await childOf(parent, 1), await childOf(parent, 2), await childOf(parent, 2)];
    const wakes = await Promise.all([parent, ...children].map(({ sessionId }) => world.fail(sessionId)));
    const order = (await Promise.allSettled(wakes.map((wake) => unwind(wake)))).length;
    expect(order).toBe(4);
    // Two workers on one entry: the one that comes second is turned away, and the sweep finishes what is left.
    for (let rounds = 0; rounds < 10; rounds++) {
      await world.rows(`UPDATE undolog_sessions SET wake_at = '-infinity' WHERE org_id = $1 AND wake_at IS NOT NULL`);
      const { wakeUps } = await takeDueSessions(world.database, 500, 1);
      if (wakeUps.length === 0) break;
      for (const wake of wakeUps) await unwind(wake).catch(() => undefined);
    }
    for (const { sessionId } of [parent, ...children]) expect(await world.stateOf(sessionId)).toBe('compensated');
  });
});

describe('a parent', () => {
  const open = async (more: Partial<OpenSession>): Promise<string> => {
    const input: OpenSession = {
      sessionId: uuidv7(),
      agentName: null,
      externalRunId: null,
      metadata: null,
      onCompensationFailure: 'halt',
      leaseSeconds: 0,
      maxAgeSeconds: 0,
      bodyHash: Buffer.from('same'),
      parent: null,
      ...more,
    };
    return (await world.commits.submit(openSession, world.orgId, input)).outcome;
  };

  test('must be there, in the same org, and can not be the session itself', async () => {
    const sessionId = uuidv7();
    expect(await open({ parent: { sessionId: uuidv7(), position: 0 } })).toBe('unknown_parent');
    expect(await open({ sessionId, parent: { sessionId, position: 0 } })).toBe('unknown_parent');
  });

  test('must be active when the child is opened, and need not be when that is repeated', async () => {
    const { sessionId: parentId } = await world.run(0);
    const sessionId = uuidv7();
    const parent = { sessionId: parentId, position: 0 };
    expect(await open({ sessionId, parent })).toBe('created');
    await unwind(await world.fail(parentId));
    expect(await open({ sessionId, parent })).toBe('same');
    expect(await open({ parent })).toBe('parent_not_active');
  });

  test('makes only moves that the transition tables know', async () => {
    expect(await checkStateMoves(world.database)).not.toEqual([]);
  });
});
