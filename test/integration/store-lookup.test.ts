import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { takeDueLookups } from '@undolog/shared/store/due-lookups';
import { failEffect } from '@undolog/shared/store/fail-effect';
import { putCompensation } from '@undolog/shared/store/put-compensation';
import { readLookup } from '@undolog/shared/store/read-lookup';
import { settleLookup, type SettleLookup } from '@undolog/shared/store/settle-lookup';
import { checkStateMoves } from '../support/state-moves.js';
import { json, openStoreWorld, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_lookup'));
  await world.commits.submit(putCompensation, world.orgId, {
    fnName: 'found',
    version: '1',
    specText: '{}',
    maxRetries: 3,
    looksUp: true,
    fingerprint: world.fingerprint('found'),
  });
});
afterAll(() => close());

const FOUND: SettleLookup['decision'] = { kind: 'found', result: json({ id: 'a' }) };
const ABSENT: SettleLookup['decision'] = { kind: 'effect_absent' };
const AGAIN: SettleLookup['decision'] = { kind: 'look_again', delayMs: 60_000, looked: 'absent' };

interface Reported {
  readonly sessionId: string;
  readonly undoId: string;
  readonly effectId: string;
}

function report({ effectId }: Pick<Reported, 'effectId'>, applied: 'unknown' | 'not_applied' = 'unknown') {
  const input = { effectId, error: json('timeout'), applied, deadLetterId: uuidv7() };
  return world.commits.submit(failEffect, world.orgId, input);
}

function commit({ effectId }: Reported) {
  const ids = { successorId: uuidv7(), deadLetterId: uuidv7() };
  return world.commits.submit(commitEffect, world.orgId, {
    effectId,
    result: json({ id: 'b' }),
    actor: 'test',
    ...ids,
  });
}

/** An active session with one effect that was reported as unknown. */
async function reported(): Promise<Reported> {
  const sessionId = await world.open();
  const compensation = { fnName: 'found', version: '1', maxRetries: null, args: json({}), needsResult: false };
  const effect = await world.register(sessionId, { compensation });
  if (effect.outcome !== 'execute') throw new Error(effect.outcome);
  const ids = { sessionId, undoId: effect.undoId!, effectId: effect.effectId };
  expect(await report(ids)).toMatchObject({
    outcome: 'recorded',
    state: 'executing',
    wake: { sessionId, undoId: ids.undoId, task: 'lookup' },
  });
  return ids;
}

async function due(undoId: string) {
  const turn = await readLookup(world.database, world.orgId, undoId);
  if (turn.outcome !== 'due') throw new Error(turn.outcome);
  return turn.lookup;
}

async function settle(undoId: string, decision: SettleLookup['decision']): Promise<string> {
  const lookup = await due(undoId);
  return (await world.commits.submit(settleLookup, world.orgId, { ...lookup, decision })).outcome;
}

async function effectState(effectId: string): Promise<string> {
  const sql = 'SELECT state FROM undolog_effect_log WHERE org_id = $1 AND effect_id = $2';
  return (await world.rows<{ state: string }>(sql, effectId))[0]!.state;
}

describe('a look for an effect of unknown outcome, in a session that goes on', () => {
  test('that finds it commits it with what was found', async () => {
    const { sessionId, undoId, effectId } = await reported();
    expect(await settle(undoId, FOUND)).toBe('settled');
    expect([await effectState(effectId), ...(await world.undoStates(sessionId))]).toEqual(['committed', 'active']);
    expect((await readLookup(world.database, world.orgId, undoId)).outcome).toBe('gone');
    await world.fail(sessionId);
    const entry = await world.mustClaim(sessionId, undoId);
    expect(entry).toMatchObject({ effectOutcome: 'committed', result: json({ id: 'a' }), attemptOpen: true });
  });

  test('that does not find it fails it; a later report arms a new entry', async () => {
    const ids = await reported();
    expect(await settle(ids.undoId, ABSENT)).toBe('settled');
    expect([await effectState(ids.effectId), ...(await world.undoStates(ids.sessionId))]).toEqual([
      'failed',
      'skipped',
    ]);
    expect(await commit(ids)).toMatchObject({ outcome: 'committed' });
    expect(await world.undoStates(ids.sessionId)).toEqual(['active', 'skipped']);
  });

  test('is taken again when its time has come, and counts once however many took it', async () => {
    const { sessionId, undoId, effectId } = await reported();
    const same = await due(undoId);
    expect(await settle(undoId, AGAIN)).toBe('settled');
    expect(await world.commits.submit(settleLookup, world.orgId, { ...same, decision: ABSENT })).toEqual({
      outcome: 'gone',
    });
    const turn = await readLookup(world.database, world.orgId, undoId);
    expect(turn).toMatchObject({ outcome: 'not_due' });
    expect([await effectState(effectId), ...(await world.undoStates(sessionId))]).toEqual(['executing', 'pending']);
    // The unwind does not wait for it, and goes on from what it saw.
    await world.fail(sessionId);
    await sleep(5);
    const entry = await world.mustClaim(sessionId, undoId);
    expect(entry.lookups.absentForMs).toBeGreaterThan(0);
  });

  test('decides nothing any more after a report, or once the session has ended', async () => {
    const ends: ((ids: Reported) => Promise<unknown>)[] = [
      commit,
      (ids) => report(ids, 'not_applied'),
      ({ sessionId }) => world.fail(sessionId),
    ];
    for (const end of ends) {
      const ids = await reported();
      const lookup = await due(ids.undoId);
      await end(ids);
      const before = await world.undoStates(ids.sessionId);
      for (const decision of [FOUND, ABSENT, AGAIN]) {
        expect(await world.commits.submit(settleLookup, world.orgId, { ...lookup, decision })).toEqual({
          outcome: 'gone',
        });
      }
      expect(await world.undoStates(ids.sessionId)).toEqual(before);
    }
  });

  test('that failed for the last time leaves all as it was, until the next report', async () => {
    const ids = await reported();
    expect(await settle(ids.undoId, { kind: 'lookup_failed' })).toBe('settled');
    expect((await readLookup(world.database, world.orgId, ids.undoId)).outcome).toBe('gone');
    expect(await effectState(ids.effectId)).toBe('executing');
    expect(await report(ids)).toMatchObject({ wake: { task: 'lookup' } });
    expect((await due(ids.undoId)).memory.failed).toBe(0);
  });

  test('is not asked for where the compensation declares none', async () => {
    const sessionId = await world.open();
    const effect = await world.register(sessionId);
    if (effect.outcome !== 'execute') throw new Error(effect.outcome);
    expect(await report(effect)).toMatchObject({ outcome: 'recorded', wake: null });
  });

  test('is found by the sweep when its wake-up call was lost, and forgotten once it is over', async () => {
    const open = await reported();
    const over = await reported();
    await commit(over);
    const found = await takeDueLookups(world.database, 500, 0);
    const mine = found.filter(({ undoId }) => [open.undoId, over.undoId].includes(undoId!));
    expect(mine.map(({ undoId, task }) => [undoId, task])).toEqual([[open.undoId, 'lookup']]);
    expect(await takeDueLookups(world.database, 500, 60_000)).toEqual([]);
    const left = 'SELECT look_at FROM undolog_undo_stack WHERE org_id = $1 AND undo_id = $2';
    expect(await world.rows(left, over.undoId)).toEqual([{ look_at: null }]);
  });
});

test('the transition tables know every move that the SQL has made in this file', async () => {
  expect((await checkStateMoves(world.database)).length).toBeGreaterThan(5);
});
