import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { json, openStoreWorld, type StoreWorld } from '../support/store-world.js';

let world: StoreWorld;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ world, close } = await openStoreWorld('store_registration'));
});
afterAll(() => close());

describe('registration', () => {
  test('the effect and its undo entry are both there once `execute` is answered, registered before executed', async () => {
    const sessionId = await world.open();
    const result = await world.register(sessionId);
    expect(result).toMatchObject({ outcome: 'execute', stackPosition: 1 });
    const rows = await world.rows(
      `SELECT 1 FROM undolog_undo_stack u JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.undo_id = u.undo_id
       WHERE u.org_id = $1 AND u.session_id = $2 AND e.registered_at < e.executed_at AND u.registered_at <= e.registered_at`,
      sessionId,
    );
    expect(rows).toHaveLength(1);
  });

  test('C95: forty registrations at once take the positions 1 to 40, none twice', async () => {
    const sessionId = await world.open();
    const results = await Promise.all(Array.from({ length: 40 }, () => world.register(sessionId)));
    const positions = results.map((result) => ('stackPosition' in result ? result.stackPosition : -1));
    expect(positions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  test('a call_id makes one effect however many repeat it at once; another body under it is refused', async () => {
    const sessionId = await world.open();
    const repeat = () => world.register(sessionId, { callId: 'c', fingerprint: world.fingerprint('body') });
    const results = await Promise.all(Array.from({ length: 10 }, repeat));
    expect(results.filter(({ outcome }) => outcome === 'execute')).toHaveLength(1);
    expect(results.filter(({ outcome }) => outcome === 'in_flight')).toHaveLength(9);
    expect(new Set(results.map((result) => ('effectId' in result ? result.effectId : '')))).toHaveProperty('size', 1);
    const other = await world.register(sessionId, { callId: 'c', fingerprint: world.fingerprint('other') });
    expect(other.outcome).toBe('call_id_reused');
  });

  test('what can not be undone is refused and leaves no row', async () => {
    const sessionId = await world.open();
    const compensation = { fnName: 'nobody', version: '1', maxRetries: null, args: json({}), needsResult: false };
    expect((await world.register(sessionId, { compensation })).outcome).toBe('unknown_compensation');
    expect((await world.register(uuidv7())).outcome).toBe('session_not_found');
    await world.register(sessionId, { stepIndex: 7 });
    expect((await world.register(sessionId, { stepIndex: 7 })).outcome).toBe('step_index_taken');
    await world.register(sessionId, { stepIndex: 2_147_483_647 });
    expect((await world.register(sessionId)).outcome).toBe('stack_full');
    await world.fail(sessionId);
    expect((await world.register(sessionId)).outcome).toBe('session_not_active');
    expect(await world.undoStates(sessionId)).toHaveLength(2);
  });
});

describe('the schema', () => {
  test('refuses a compensable effect without an undo entry, and one executed before it was registered', async () => {
    const sessionId = await world.open();
    const insert = (undoId: string | null, executedAt: string) =>
      world.rows(
        `INSERT INTO undolog_effect_log (org_id, effect_id, session_id, undo_id, stack_position, tool_name,
           effect_class, state, args, executed_at)
         VALUES ($1, $2, $3, $4, 1, 't', 'compensable', 'executing', '{}', now() + $5::interval)`,
        uuidv7(),
        sessionId,
        undoId,
        executedAt,
      );
    await expect(insert(null, '1 second')).rejects.toThrow('check constraint');
    await expect(insert(uuidv7(), '1 second')).rejects.toThrow('foreign key');
    await expect(insert(uuidv7(), '-1 second')).rejects.toThrow('check constraint');
  });

  test('refuses a second entry at a position, and any change of the audit log', async () => {
    const sessionId = await world.open();
    await world.register(sessionId);
    const copy = world.rows(
      `INSERT INTO undolog_undo_stack (org_id, undo_id, session_id, effect_id, stack_position, state)
       VALUES ($1, $2, $3, $4, 1, 'pending')`,
      uuidv7(),
      sessionId,
      uuidv7(),
    );
    await expect(copy).rejects.toThrow('undolog_undo_stack_order');
    await world.fail(sessionId);
    await expect(world.rows('DELETE FROM undolog_audit_log WHERE org_id = $1')).rejects.toThrow('append-only');
  });
});
