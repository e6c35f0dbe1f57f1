import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { listAudit } from '@undolog/shared/store/audit-log';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { completeSession } from '@undolog/shared/store/complete-session';
import { rollBackSession } from '@undolog/shared/store/roll-back-session';
import { sealAudit } from '@undolog/shared/store/seal-audit';
import { countUnsealed, listSeals, verifyAudit } from '@undolog/shared/store/verify-audit';
import { replayAudit } from '../support/replay-audit.js';
import { DONE, openStoreWorld, REFUSED, type StoreWorld } from '../support/store-world.js';

const LIMIT = 1000;

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_audit'));
});
afterAll(() => close());

const log = () => listAudit(world.database, world.orgId, { limit: 10_000 });
const verify = (after = 0) => verifyAudit(world.database, world.orgId, after, 100);

/** What is open in other databases of the server holds back the end of the log. */
async function sealAll(): Promise<void> {
  await expect
    .poll(async () => {
      await sealAudit(world.database, LIMIT);
      return countUnsealed(world.database, world.orgId, 100);
    })
    .toBe(0);
}

/** Undoes the whole session but for the entries that are refused. */
async function unwind(sessionId: string, undoIds: readonly string[], refused: readonly string[] = []): Promise<void> {
  for (const undoId of undoIds.toReversed()) {
    const breaks = refused.includes(undoId);
    await world.settle(await world.mustClaim(sessionId, undoId), breaks ? REFUSED : DONE);
    if (breaks) return;
  }
}

/** Sessions that have come to each of their ends, by each of the ways that leave a trace. */
async function busyDay(): Promise<void> {
  const completed = await world.run(1);
  const done = { sessionId: completed.sessionId, leaveUnknown: false, actor: 'test' };
  await world.commits.submit(completeSession, world.orgId, done);
  const undone = await world.run(3);
  await world.fail(undone.sessionId);
  await unwind(undone.sessionId, undone.undoIds);
  const halted = await world.run(3);
  await world.fail(halted.sessionId);
  await unwind(halted.sessionId, halted.undoIds, [halted.undoIds[1]!]);
  const retried = await world.run(2);
  await world.fail(retried.sessionId);
  await unwind(retried.sessionId, retried.undoIds, [retried.undoIds[1]!]);
  await world.retry(retried.sessionId);
  await unwind(retried.sessionId, retried.undoIds);
  const waiting = await world.run(2);
  await world.fail(waiting.sessionId);
  await unwind(waiting.sessionId, waiting.undoIds, [waiting.undoIds[1]!]);
  await world.retry(waiting.sessionId);
  const rolledBack = await world.run(2);
  const to = { sessionId: rolledBack.sessionId, toPosition: 1, actor: 'test', deadLetterId: uuidv7() };
  await world.commits.submit(rollBackSession, world.orgId, to);
  await unwind(rolledBack.sessionId, [rolledBack.undoIds[1]!]);
  const late = await world.open();
  const effect = await world.register(late);
  if (effect.outcome !== 'execute') throw new Error(effect.outcome);
  await world.fail(late);
  await unwind(late, [effect.undoId!]);
  const { effectId } = effect;
  const report = { effectId, result: null, successorId: uuidv7(), deadLetterId: uuidv7(), actor: 'test' };
  await world.commits.submit(commitEffect, world.orgId, report);
  await world.run(2);
}

describe('the audit log', () => {
  test('replayed from its beginning gives the state of every session and every entry', async () => {
    await busyDay();
    const { sessions, entries } = replayAudit(await log());
    const rows = await world.rows<{ session_id: string; state: string }>(
      'SELECT session_id, state FROM undolog_sessions WHERE org_id = $1',
    );
    expect(rows.length).toBeGreaterThan(7);
    for (const { session_id: id, state } of rows) expect([id, sessions.get(id) ?? 'active']).toEqual([id, state]);
    const undos = await world.rows<{ undo_id: string; state: string }>(
      `SELECT undo_id, CASE WHEN state IN ('pending', 'active', 'running') THEN 'waiting' ELSE state END AS state
      FROM undolog_undo_stack WHERE org_id = $1`,
    );
    for (const { undo_id: id, state } of undos) expect([id, entries.get(id) ?? 'waiting']).toEqual([id, state]);
  });

  test('tells of each move what was told before, and what is so since', async () => {
    const { sessionId, undoIds } = await world.run(1);
    await world.fail(sessionId);
    await unwind(sessionId, undoIds, undoIds);
    const told = await listAudit(world.database, world.orgId, { sessionId, limit: 10 });
    expect(told.map(({ action, before, after }) => [action, before, after]).toReversed()).toEqual([
      ['session.failed', null, 'failed'],
      ['session.compensating', 'failed', 'compensating'],
      ['undo.failed', null, 'failed'],
      ['session.halted', 'compensating', 'halted'],
    ]);
    const filter = { sessionId, action: 'undo.failed', actor: 'undolog', undoId: undoIds[0], limit: 10 };
    expect(await listAudit(world.database, world.orgId, filter)).toHaveLength(1);
    const never = { ...filter, until: '2000-01-01T00:00:00Z' };
    expect(await listAudit(world.database, world.orgId, never)).toEqual([]);
  });

  test('can be added to, and neither changed nor shortened', async () => {
    for (const change of [
      `UPDATE undolog_audit_log SET actor = 'nobody' WHERE org_id = $1`,
      `UPDATE undolog_audit_log SET reason = NULL WHERE org_id = $1 AND reason IS NOT NULL`,
      `UPDATE undolog_audit_log SET reason = NULL, erased_reason_hash = sha256('other') WHERE org_id = $1 AND reason IS NOT NULL`,
      `UPDATE undolog_audit_log SET reason = NULL, erased_reason_hash = sha256(reason), actor = 'nobody'
        WHERE org_id = $1 AND reason IS NOT NULL`,
      'DELETE FROM undolog_audit_log WHERE org_id = $1',
    ]) {
      await expect(world.rows(change)).rejects.toThrow('append-only');
    }
  });
});

describe('a seal of the audit log', () => {
  test('holds what was written, also in words that were erased since', async () => {
    await world.fail((await world.run(1)).sessionId);
    await sealAll();
    const [last] = await listSeals(world.database, world.orgId, { limit: 1 });
    expect(await verify()).toMatchObject({ fault: null, through: { number: last!.number, hash: last!.hash } });
    await world.rows(
      `UPDATE undolog_audit_log SET reason = NULL, erased_reason_hash = sha256(reason)
      WHERE org_id = $1 AND action = 'session.failed' AND reason IS NOT NULL`,
    );
    expect(await verify()).toMatchObject({ fault: null, through: { hash: last!.hash } });
    expect((await log()).filter((entry) => entry.reason_erased).length).toBeGreaterThan(0);
  });

  test('is one chain, however many seal at once, and what commits late is in it', async () => {
    const slow = world.database.transaction(async (tx) => {
      const text = `INSERT INTO undolog_audit_log (org_id, actor, action) VALUES ($1, 'slow', 'test.late')`;
      await tx.query({ text, values: [world.orgId] });
      for (let n = 0; n < 5; n++) {
        await world.fail((await world.run(1)).sessionId);
        await Promise.all([1, 2, 3].map(() => sealAudit(world.database, LIMIT)));
      }
    });
    await slow;
    await sealAll();
    const proved = await verify();
    expect(proved.fault).toBeNull();
    expect(proved.entries).toBe((await log()).length);
  });

  test('takes a transaction whole that is larger than what it looks at, and goes on with the rest', async () => {
    await sealAll();
    const many = `INSERT INTO undolog_audit_log (org_id, actor, action) SELECT $1, 'test', 'test.many' FROM generate_series(1, 25)`;
    await world.rows(many);
    await world.rows(many);
    const before = (await verify()).entries;
    await expect
      .poll(async () => {
        await sealAudit(world.database, 10);
        return countUnsealed(world.database, world.orgId, 100);
      })
      .toBe(0);
    expect(await verify()).toMatchObject({ fault: null, entries: before + 50 });
  });

  const tamperings: [string, string, string][] = [
    ['altered', 'an entry was changed', `UPDATE undolog_audit_log SET actor = 'nobody' WHERE org_id = $1 AND seq = $2`],
    ['entries', 'an entry is gone', 'DELETE FROM undolog_audit_log WHERE org_id = $1 AND seq = $2'],
    [
      'entries',
      'one was put in behind it',
      `INSERT INTO undolog_audit_log (org_id, xid, actor, action)
        SELECT org_id, xid, actor, action FROM undolog_audit_log WHERE org_id = $1 AND seq = $2`,
    ],
    [
      'missing',
      'a seal is gone',
      'DELETE FROM undolog_audit_seals WHERE org_id = $1 AND number = 1 AND $2::bigint > 0',
    ],
  ];
  test.each(tamperings)('says `%s` when %s', async (kind, _what, change) => {
    await sealAll();
    await world.fail((await world.run(1)).sessionId);
    await sealAll();
    const first = (await log()).at(-1)!.seq;
    let found: string | undefined;
    const tampered = world.database.transaction(async (tx) => {
      await tx.query({ text: 'ALTER TABLE undolog_audit_log DISABLE TRIGGER ALL' });
      await tx.query({ text: change, values: [world.orgId, first] });
      found = (await verifyAudit(tx, world.orgId, 0, 100)).fault?.kind;
      // Nothing of it stays, so that the next test finds a chain that holds.
      throw new Error('rolled back');
    });
    await expect(tampered).rejects.toThrow();
    expect(found).toBe(kind);
  });
});
