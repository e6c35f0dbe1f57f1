import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { databaseText, found } from '../support/leak-search.js';
import { openWorld, type World } from '../support/world.js';

describe('of what has ended', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({
      name: 'retention',
      // In the clear, so that a look at the tables finds what is left.
      env: { UNDOLOG_ENCRYPTION_KEY: '' },
      compensatorEnv: { UNDOLOG_RETENTION_DAYS: '7' },
    });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const statusOf = async ({ path }: AgentSession): Promise<number> => (await org.request('GET', path)).status;

  it('what ended longer ago than UNDOLOG_RETENTION_DAYS is gone, a late report on it is unknown, and what waits for a person stays', async () => {
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

  /** Something that only this person's data holds. */
  const WORDS = [
    'Jane-Doe',
    'jane@home.example',
    'her-room-number',
    'sold-out-for-jane',
    'asked-by-jane',
    'ticket-of-jane',
  ];
  const erase = (session: AgentSession, as = org) => as.request('DELETE', `${session.path}/data`);

  /** A session of hers, ended by a person, with words of hers in every place that takes some. */
  async function herSession(): Promise<AgentSession> {
    const session = await org.open({ metadata: { guest: 'Jane-Doe' }, agent_name: 'concierge' });
    const undo = { args: { email: 'jane@home.example', room: { $result: '/room' } } };
    const { effect_id: effectId } = await session.register('/erased', { args: { email: 'jane@home.example' } }, undo);
    expect((await session.commit(effectId, { room: 'her-room-number' })).status).toBe(200);
    const lost = await session.register('/refused', {}, { args: { email: 'jane@home.example' } });
    const error = { error: 'sold-out-for-jane', outcome: 'unknown' };
    expect((await org.post(`/v1/effects/${lost.effect_id}/fail`, error)).status).toBe(200);
    world.vendor.always('/refused', { status: 400 });
    await session.fail('asked-by-jane');
    await session.reaches('halted');
    const resolved = await session.act('resolve', { reason: 'asked-by-jane', evidence: { see: 'ticket-of-jane' } });
    expect(resolved.status, resolved.text).toBe(200);
    return session;
  }

  /** What must outlast the erasing. */
  async function whatHappened(session: AgentSession): Promise<unknown> {
    const entries = (await session.stack()).map(({ args: _args, reason: _reason, effect, ...entry }) => {
      const { args: _given, result: _result, ...kept } = effect;
      return { ...entry, effect: kept };
    });
    const { state, undo_counts: counts, effects_standing: standing, agent_name: agent } = await session.view();
    const { data } = await org.get<{ data: { seq: number; action: string }[] }>(
      `/v1/audit?session_id=${session.id}&limit=200`,
    );
    const audit = data.filter(({ action }) => action !== 'session.data_erased').map(({ seq, action }) => [seq, action]);
    return { entries, state, counts, standing, agent, audit };
  }

  it("a person's data can be erased; states, ids, attempts and the sealed audit log stay", async () => {
    const session = await herSession();
    const before = await whatHappened(session);
    expect(found(await databaseText(world), WORDS)).toEqual(WORDS);
    const sealed = () => org.get<{ ok: boolean; unsealed: number; entries: number }>('/v1/audit/verify');
    await expect.poll(async () => (await sealed()).unsealed, { timeout: 15_000 }).toBe(0);

    const answer = await erase(session);
    expect([answer.status, bodyOf(answer)]).toMatchObject([200, { session_id: session.id, complete: true }]);
    expect(found(await databaseText(world), WORDS)).toEqual([]);
    expect(await whatHappened(session)).toEqual(before);
    expect((await session.view()).data_erased_at).toBe(bodyOf(answer)['data_erased_at']);
    expect((await session.stack()).map(({ args, effect }) => [args, effect.args])).toEqual([
      ['[erased]', '[erased]'],
      ['[erased]', '[erased]'],
    ]);
    await expect.poll(async () => (await sealed()).unsealed, { timeout: 15_000 }).toBe(0);
    expect(await sealed()).toMatchObject({ ok: true });
    const again = await erase(session);
    expect(bodyOf(again)['data_erased_at']).toBe(bodyOf(answer)['data_erased_at']);
  });

  it('nothing is erased of what has not ended, or may still be undone with its parent, or is not ours', async () => {
    const parent = await org.open();
    const child = await org.open({ parent: { session_id: parent.id, stack_position: 1 } });
    await child.book('/child');
    expect((await org.post(`${child.path}/complete`)).status).toBe(200);
    world.vendor.always('/refused', { status: 400 });
    const halted = await org.booked(['/refused']);
    await halted.fail();
    await halted.reaches('halted');
    for (const session of [parent, child, halted]) {
      const answer = await erase(session);
      expect([answer.status, bodyOf(answer)['code']]).toEqual([409, 'session_not_ended']);
    }
    expect((await erase(halted, await world.newOrg())).status).toBe(404);
    const operator = bodyOf<{ api_key: string }>(await org.post('/v1/keys', { role: 'operator' }));
    const asOperator = world.orgAt(world.api, { orgId: org.orgId, apiKey: operator.api_key });
    expect((await erase(halted, asOperator)).status).toBe(403);

    expect((await org.post(`${parent.path}/complete`)).status).toBe(200);
    expect((await erase(child)).status).toBe(200);
  });

  it('an effect that is reported after its data was erased is shown as standing, and no vendor is called', async () => {
    const session = await org.open();
    const { effect_id: effectId } = await session.bookUnreported('/forgotten');
    await session.fail();
    await session.reaches('compensated');
    const called = session.undos().length;
    expect((await erase(session)).status).toBe(200);
    expect((await session.commit(effectId, { booking_id: 'late' })).status).toBe(409);
    const { state, effects_standing: standing } = await session.view();
    expect([state, standing.map((one) => one.effect_id)]).toEqual(['compensated', [effectId]]);
    expect(session.undos()).toHaveLength(called);
    expect((await session.stack()).map(({ state: undo, superseded_by: by }) => [undo, by])).toEqual([
      ['compensated', null],
    ]);
  });
});
