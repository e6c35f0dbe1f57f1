import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Settlement } from '@undolog/shared/domain/verdict';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import type { ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { putCompensation } from '@undolog/shared/store/put-compensation';
import { settleEntry, type SettleEntry } from '@undolog/shared/store/settle-entries';
import { warnOfDeadlines } from '@undolog/shared/store/warn-of-deadlines';
import { checkStateMoves } from '../support/state-moves.js';
import { json, openStoreWorld, REFUSED, UNCONFIRMED, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_deadlines'));
  const refund = {
    fnName: 'refund',
    version: '1',
    specText: '{}',
    maxRetries: 3,
    undoDeadlineSeconds: 100,
    looksUp: false,
  };
  await world.commits.submit(putCompensation, world.orgId, { ...refund, fingerprint: world.fingerprint('refund') });
});
afterAll(() => close());

const AGAIN: Settlement = { kind: 'retry', delayMs: 0, code: 'http_500' };

function settle(entry: ClaimedEntry, attempt: Partial<NonNullable<SettleEntry['attempt']>>, settlement = AGAIN) {
  const { sessionId, undoId, fence } = entry;
  const tried = { status: 500, outcome: 'unknown', error: null, durationMs: 1, ...attempt } as const;
  const input = { sessionId, undoId, fence, attempt: tried, settlement, deadLetterId: uuidv7() };
  return world.commits.submit(settleEntry, world.orgId, input);
}

async function failed(): Promise<{ sessionId: string; undoId: string }> {
  const { sessionId, undoIds } = await world.run(1);
  await world.fail(sessionId);
  return { sessionId, undoId: undoIds[0]! };
}

describe('the age of an entry’s key', () => {
  const older = (undoId: string) =>
    world.rows(
      `UPDATE undolog_attempts SET at = at - interval '1 hour' WHERE org_id = $1 AND undo_id = $2 AND attempt = 1`,
      undoId,
    );

  test.each([
    ['an unknown one', { status: 500, outcome: 'unknown' }, true],
    ['one that was done', { status: 202, outcome: 'done' }, true],
    ['one that was refused', { status: 429, outcome: 'retry' }, false],
    ['one that never left', { status: null, outcome: 'retry', error: 'ECONNREFUSED' }, false],
  ] as const)('runs from the first call that may have taken: %s', async (_name, attempt, counts) => {
    const { sessionId, undoId } = await failed();
    const first = await world.mustTry(sessionId, undoId);
    expect(first.keyAgeMs).toBeNull();
    await settle(first, attempt);
    await older(undoId);
    const second = await world.mustTry(sessionId, undoId);
    if (counts) expect(second.keyAgeMs).toBeGreaterThan(3_590_000);
    else expect(second.keyAgeMs).toBeNull();
    // A later one does not make it younger.
    await settle(second, { outcome: 'unknown' });
    const third = await world.mustClaim(sessionId, undoId);
    if (counts) expect(third.keyAgeMs).toBeGreaterThan(3_590_000);
    else expect(third.keyAgeMs).toBeLessThan(3_000_000);
  });

  test('counts a call whose worker was lost, and outlives a re-drive', async () => {
    const { sessionId, undoId } = await failed();
    await world.mustTry(sessionId, undoId, 0);
    await older(undoId);
    const next = await world.mustTry(sessionId, undoId);
    expect(next.keyAgeMs).toBeGreaterThan(3_590_000);
    await settle(next, {}, UNCONFIRMED);
    await world.retry(sessionId);
    expect((await world.mustClaim(sessionId, undoId)).keyAgeMs).toBeGreaterThan(3_590_000);
  });
});

test('an answer is known again in its round, over answers of other kinds, and forgotten with a re-drive', async () => {
  const { sessionId, undoId } = await failed();
  const answerHash = randomBytes(32);
  const first = await world.mustTry(sessionId, undoId);
  expect(first.answerHash).toBeNull();
  await settle(first, { answerHash });
  const second = await world.mustTry(sessionId, undoId);
  expect(second.answerHash).toEqual(answerHash);
  await settle(second, { status: null, error: 'timeout' });
  const third = await world.mustTry(sessionId, undoId);
  expect(third.answerHash).toEqual(answerHash);
  await settle(third, { answerHash }, UNCONFIRMED);
  await world.retry(sessionId);
  expect((await world.mustClaim(sessionId, undoId)).answerHash).toBeNull();
});

describe('a warning that a vendor’s window is about to close', () => {
  const warnings = (sessionId: string) =>
    world.rows<{ undo_id: string }>(
      `SELECT undo_id FROM undolog_audit_log WHERE org_id = $1 AND session_id = $2 AND action = 'undo.deadline_near'`,
      sessionId,
    );

  /** A session with one effect whose undo has a window of 100 s; nobody has reported the effect. */
  async function refundable(): Promise<{ sessionId: string; undoId: string }> {
    const sessionId = await world.open();
    const compensation = { fnName: 'refund', version: '1', maxRetries: null, args: json({}), needsResult: false };
    const effect = await world.register(sessionId, { compensation });
    if (effect.outcome !== 'execute') throw new Error(effect.outcome);
    return { sessionId, undoId: effect.undoId! };
  }

  const age = (sessionId: string, seconds: number) =>
    world.rows(
      `UPDATE undolog_effect_log SET executed_at = clock_timestamp() - $3 * interval '1 second',
        registered_at = clock_timestamp() - ($3 + 1) * interval '1 second' WHERE org_id = $1 AND session_id = $2`,
      sessionId,
      seconds,
    );

  test('comes once, after 80 % of it, while the session unwinds or is halted', async () => {
    const [unwinding, halted, active, early, undone] = await Promise.all([1, 2, 3, 4, 5].map(refundable));
    const noWindow = await failed();
    for (const { sessionId } of [unwinding!, halted!, early!, undone!]) await world.fail(sessionId);
    await world.settle(await world.mustTry(halted!.sessionId, halted!.undoId), REFUSED);
    const done: Settlement = { kind: 'settled', state: 'compensated', proof: 'answered' };
    await world.settle(await world.mustTry(undone!.sessionId, undone!.undoId), done);
    for (const { sessionId } of [unwinding!, halted!, active!, undone!, noWindow]) await age(sessionId, 81);
    await age(early!.sessionId, 70);
    expect(await warnOfDeadlines(world.database, 100)).toBe(2);
    expect(await warnOfDeadlines(world.database, 100)).toBe(0);
    expect(await warnings(unwinding!.sessionId)).toEqual([{ undo_id: unwinding!.undoId }]);
    expect(await warnings(halted!.sessionId)).toEqual([{ undo_id: halted!.undoId }]);
    await age(early!.sessionId, 81);
    expect(await warnOfDeadlines(world.database, 100)).toBe(1);
  });
});

test('the transition tables know every move that the SQL has made in this file', async () => {
  expect((await checkStateMoves(world.database)).length).toBeGreaterThan(5);
});
