import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Settlement } from '@undolog/shared/domain/verdict';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { commitEffect } from '@undolog/shared/store/commit-effect';
import { completeSession } from '@undolog/shared/store/complete-session';
import { listDeadLetters } from '@undolog/shared/store/dead-letters';
import { deleteOldSessions } from '@undolog/shared/store/delete-old-sessions';
import { resolveDeadLetter } from '@undolog/shared/store/resolve-dead-letter';
import { checkStateMoves } from '../support/state-moves.js';
import { DONE, json, openStoreWorld, REFUSED, type StoreWorld } from '../support/store-world.js';

const DAYS = 30;
const LIMITS = { sessions: 500, effects: 5000 };

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('retention'));
});
afterAll(() => close());

async function completed(effects = 1): Promise<string> {
  const { sessionId } = await world.run(effects);
  await world.commits.submit(completeSession, world.orgId, { sessionId, leaveUnknown: false, actor: 'test' });
  expect(await world.stateOf(sessionId)).toBe('completed');
  return sessionId;
}

/** Fails the session and settles its only entry. */
async function unwound(settlement: Settlement): Promise<string> {
  const { sessionId, undoIds } = await world.run(1);
  await world.fail(sessionId);
  await world.settle(await world.mustClaim(sessionId, undoIds[0]!), settlement);
  return sessionId;
}

/** As a person ends a halted session. */
async function resolve(sessionId: string): Promise<void> {
  const page = { state: 'open', sessionIds: [sessionId], limit: 1 } as const;
  const [letter] = await listDeadLetters(world.database, world.orgId, page);
  const action = { deadLetterId: letter!.dead_letter_id, ifVersion: null, actor: 'test' };
  const input = { ...action, reason: json('by hand'), evidence: null };
  expect(await world.commits.submit(resolveDeadLetter, world.orgId, input)).toMatchObject({ outcome: 'resolved' });
}

/** Moves all that has happened to the session into the past. */
async function age(sessionId: string, days: number): Promise<void> {
  await world.rows(
    `UPDATE undolog_sessions SET created_at = created_at - $3 * interval '1 day', updated_at = updated_at - $3 * interval '1 day'
    WHERE org_id = $1 AND session_id = $2`,
    sessionId,
    days,
  );
}

async function exists(sessionId: string): Promise<boolean> {
  const rows = await world.rows('SELECT 1 FROM undolog_sessions WHERE org_id = $1 AND session_id = $2', sessionId);
  return rows.length > 0;
}

async function deleteAll(): Promise<number> {
  let deleted = 0;
  for (;;) {
    const batch = await deleteOldSessions(world.database, DAYS, LIMITS);
    if (batch === 0) return deleted;
    deleted += batch;
  }
}

describe('sessions that ended longer ago than they are kept', () => {
  test('are deleted; younger, halted and unended ones stay', async () => {
    const old = [await completed(), await unwound(DONE), await unwound(REFUSED)];
    await resolve(old[2]!);
    const kept = [await completed(), await unwound(REFUSED), await world.open()];
    const failed = (await world.run(1)).sessionId;
    await world.fail(failed);
    for (const sessionId of [...old, ...kept.slice(1), failed]) await age(sessionId, DAYS + 1);
    await age(kept[0]!, DAYS - 1);
    expect(await deleteAll()).toBe(old.length);
    for (const sessionId of old) expect(await exists(sessionId)).toBe(false);
    for (const sessionId of [...kept, failed]) expect(await exists(sessionId)).toBe(true);
    for (const sessionId of [...kept, failed]) await age(sessionId, -DAYS - 1);
  });

  test('are judged by their end, not by their beginning', async () => {
    const sessionId = await completed();
    await world.rows(
      `UPDATE undolog_sessions SET created_at = created_at - interval '1 year' WHERE org_id = $1 AND session_id = $2`,
      sessionId,
    );
    expect(await deleteAll()).toBe(0);
    expect(await exists(sessionId)).toBe(true);
  });

  test('leave nothing behind in any table but the audit log', async () => {
    const { sessionId, undoIds } = await world.run(2);
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoIds[1]!), REFUSED);
    await resolve(sessionId);
    const columns = await world.database.query<{ table_name: string; column_name: string }>({
      text: `SELECT table_name, column_name FROM information_schema.columns
        WHERE column_name IN ('session_id', 'undo_id') AND table_schema = 'public' AND table_name LIKE 'undolog%'`,
    });
    const holders = async (): Promise<string[]> => {
      const found = new Set<string>();
      for (const { table_name: table, column_name: column } of columns) {
        const ids = column === 'session_id' ? [sessionId] : undoIds;
        const rows = await world.rows(`SELECT 1 FROM ${table} WHERE org_id = $1 AND ${column}::text = ANY ($2)`, ids);
        if (rows.length > 0) found.add(table);
      }
      return [...found].sort();
    };
    expect(await holders()).toEqual([
      'undolog_attempts',
      'undolog_audit_log',
      'undolog_dead_letters',
      'undolog_effect_log',
      'undolog_sessions',
      'undolog_undo_stack',
    ]);
    await age(sessionId, DAYS + 1);
    expect(await deleteAll()).toBe(1);
    expect(await holders()).toEqual(['undolog_audit_log']);
  });

  test('are unknown to a report that comes after', async () => {
    const { sessionId, undoIds } = await world.run(1);
    const effect = await world.rows<{ effect_id: string }>(
      'SELECT effect_id FROM undolog_effect_log WHERE org_id = $1 AND session_id = $2',
      sessionId,
    );
    await world.fail(sessionId);
    await world.settle(await world.mustClaim(sessionId, undoIds[0]!), DONE);
    await age(sessionId, DAYS + 1);
    expect(await deleteAll()).toBe(1);
    const late = await world.commits.submit(commitEffect, world.orgId, {
      effectId: effect[0]!.effect_id,
      result: json({ late: true }),
      successorId: uuidv7(),
      deadLetterId: uuidv7(),
      actor: 'test',
    });
    expect(late.outcome).toBe('effect_not_found');
  });

  test('go in batches, bounded by their sessions and by their effects, the oldest first', async () => {
    const sessions = [await completed(3), await completed(3), await completed(1)];
    for (const [n, sessionId] of sessions.entries()) await age(sessionId, DAYS + 10 - n);
    const remaining = async (): Promise<boolean[]> => Promise.all(sessions.map(exists));
    expect(await deleteOldSessions(world.database, DAYS, { sessions: 500, effects: 3 })).toBe(1);
    expect(await remaining()).toEqual([false, true, true]);
    expect(await deleteOldSessions(world.database, DAYS, { sessions: 1, effects: 5000 })).toBe(1);
    expect(await remaining()).toEqual([false, false, true]);
    expect(await deleteAll()).toBe(1);
  });

  test('keeps a child as long as its parent, which may still unwind it', async () => {
    const parentId = await world.open();
    const { sessionId } = await world.run(1, { parent: { sessionId: parentId, position: 1 } });
    const end = { leaveUnknown: false, actor: 'test' };
    await world.commits.submit(completeSession, world.orgId, { ...end, sessionId });
    await age(sessionId, DAYS + 1);
    await deleteAll();
    expect(await exists(sessionId)).toBe(true);
    await world.commits.submit(completeSession, world.orgId, { ...end, sessionId: parentId });
    await age(parentId, DAYS + 1);
    await deleteAll();
    await deleteAll();
    expect([await exists(parentId), await exists(sessionId)]).toEqual([false, false]);
  });

  test('are left to whoever holds them', async () => {
    const sessionId = await completed();
    await age(sessionId, DAYS + 1);
    await world.database.transaction(async (tx) => {
      await tx.query({
        text: 'SELECT 1 FROM undolog_sessions WHERE session_id = $1 FOR NO KEY UPDATE',
        values: [sessionId],
      });
      expect(await deleteAll()).toBe(0);
    });
    expect(await deleteAll()).toBe(1);
  });
});

test('no state was moved that the transition tables do not know', async () => {
  expect((await checkStateMoves(world.database)).length).toBeGreaterThan(5);
});
