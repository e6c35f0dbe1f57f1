import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe('registered before executed', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'registered_before' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  interface Seen {
    readonly state: string;
    readonly undo_state: string | null;
  }

  it('every call that a vendor receives is committed with its undo by then, for others to see', async () => {
    // At the very moment of its receipt the vendor looks, over a connection of its own: what it sees is committed.
    const seen = new Map<string, Seen | undefined>();
    world.vendor.onBook = async (key) => {
      const [row] = await world.rows<Seen>(
        `SELECT e.state, u.state AS undo_state FROM undolog_effect_log e
        LEFT JOIN undolog_undo_stack u ON u.org_id = e.org_id AND u.undo_id = e.undo_id
        WHERE 'effect-' || e.effect_id = $1`,
        key,
      );
      seen.set(key, row);
    };
    await org.compensation('/before');
    const sessions = await Promise.all(Array.from({ length: 25 }, () => org.open()));
    await Promise.all(
      sessions.map(async (session) => {
        for (let n = 0; n < 4; n++) await session.book('/before');
      }),
    );
    expect(seen.size).toBe(100);
    for (const row of seen.values()) expect(row).toEqual({ state: 'executing', undo_state: 'pending' });

    // The look can come out otherwise: a call that nobody registered is not found.
    await fetch(`${world.vendor.url}/book`, { method: 'POST', headers: { 'idempotency-key': 'effect-x' }, body: '{}' });
    expect(seen.get('effect-x')).toBeUndefined();
    world.vendor.onBook = undefined;
  });

  it('by the database’s clock the entry comes before the execution, and both before the vendor’s receipt', async () => {
    const receivedAtMs = new Map(world.vendor.ledger.at('/book').map((call) => [call.key, call.receivedAtMs]));
    const effects = await world.rows<{ key: string; registered: boolean; executed_ms: number }>(
      `SELECT 'effect-' || e.effect_id AS key, e.registered_at < e.executed_at AND u.registered_at < e.executed_at AS registered,
        extract(epoch FROM e.executed_at)::float8 * 1000 AS executed_ms
      FROM undolog_effect_log e JOIN undolog_undo_stack u ON u.org_id = e.org_id AND u.undo_id = e.undo_id`,
    );
    expect(effects.length).toBeGreaterThanOrEqual(100);
    for (const { key, registered, executed_ms: executedMs } of effects) {
      expect(registered).toBe(true);
      // One machine, one clock; the ledger's has whole milliseconds.
      expect(executedMs).toBeLessThan(receivedAtMs.get(key)! + 1);
    }
  });

  it('a registration that is refused leaves nothing behind, and says so before the tool runs', async () => {
    const session = await org.open();
    const refused = [
      await session.tryRegister('/before', {}, { fn_name: 'nobody registered this' }),
      await session.tryRegister('/before', {}, { args: { x: { $args: '/nowhere' } } }),
      await session.tryRegister('/before', { compensation: undefined }),
    ];
    expect(refused.map((answer) => answer.status)).toEqual([422, 422, 422]);
    for (const answer of refused) expect(JSON.parse(answer.text)).toMatchObject({ decision: 'refuse' });
    expect(await session.stack()).toEqual([]);
  });

  it('a client whose answer was lost gets the same ids for the same request, and calls once', async () => {
    const session = await org.open();
    const request = (): ReturnType<typeof session.tryRegister> =>
      session.tryRegister('/before', { call_id: 'lost-answer', args: { ref: 'lost' } });
    const answers = await Promise.all(Array.from({ length: 10 }, request));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(new Set(answers.map((answer) => (JSON.parse(answer.text) as { effect_id: string }).effect_id)).size).toBe(1);
    expect(await session.stack()).toHaveLength(1);
  });
});
