import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentSession, Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe('with UNDOLOG_RETENTION_DAYS', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'retention', compensatorEnv: { UNDOLOG_RETENTION_DAYS: '7' } });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const statusOf = async ({ path }: AgentSession): Promise<number> => (await org.request('GET', path)).status;

  it('what ended longer ago is gone, a late report on it is unknown, and what waits for a person stays', async () => {
    world.vendor.always('/refused', { status: 400 });
    const undone = await org.booked(['/old']);
    const lost = await undone.bookUnreported('/old-unreported');
    const young = await org.booked(['/young']);
    const halted = await org.booked(['/refused']);
    for (const session of [undone, young, halted]) await session.fail();
    await undone.reaches('compensated');
    await young.reaches('compensated');
    await halted.reaches('halted');
    for (const session of [undone, halted]) {
      await world.rows(
        `UPDATE undolog_sessions SET created_at = created_at - interval '8 days', updated_at = updated_at - interval '8 days'
        WHERE session_id = $1`,
        session.id,
      );
    }
    // A compensator looks at its start, and then at leisure.
    await world.compensator.kill();
    await world.compensator.start();
    await expect.poll(() => statusOf(undone), { timeout: 15_000 }).toBe(404);
    expect([await statusOf(young), await statusOf(halted)]).toEqual([200, 200]);
    expect(await org.deadLetters(halted.id)).toHaveLength(1);
    const late = await undone.commit(lost.effect_id, { booking_id: 'b' });
    expect([late.status, late.text]).toEqual([404, expect.stringContaining('not_found')]);
    const { data: audit } = await org.get<{ data: { session_id: string }[] }>('/v1/audit?limit=200');
    expect(audit.some((entry) => entry.session_id === undone.id)).toBe(true);
  });
});
