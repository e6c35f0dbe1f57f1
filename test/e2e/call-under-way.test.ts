import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('a call that may still be under way when its session fails', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'call_under_way' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  async function failedWhileWaiting(callTimeoutMs: number): Promise<{ session: AgentSession; effectId: string }> {
    const session = await org.booked(['/w/below']);
    const { effect_id: effectId } = await session.bookUnreported('/w/slow', { call_timeout_ms: callTimeoutMs });
    await session.fail();
    const shown = await session.reaches('compensating');
    expect(shown.retry_at).not.toBeNull();
    expect(session.undos()).toEqual([]);
    return { session, effectId };
  }

  it('is not undone before it could land, and the entries below wait with it', async () => {
    const { session } = await failedWhileWaiting(2500);
    const { effect } = (await session.stack())[0]!;
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(session.undos()[0]!.receivedAtMs).toBeGreaterThanOrEqual(Date.parse(effect.executed_at!) + 2500);
  });

  it.each([
    ['success', 'commit', { result: {} }, 409, [2, 1]],
    ['failure', 'fail', { error: 'no', outcome: 'not_applied' }, 200, [1]],
    ['doubt', 'fail', { error: 'who knows', outcome: 'unknown' }, 200, [2, 1]],
  ])('a report of %s ends the wait', async (_, route, body, status, positions) => {
    const { session, effectId } = await failedWhileWaiting(3_600_000);
    expect((await org.post(`/v1/effects/${effectId}/${route}`, body)).status).toBe(status);
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual(positions);
  });
});

describe.concurrent('a tool that fails while its session goes on', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'recoverable' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('has nothing undone: the agent tries again and completes (C112)', async () => {
    const session = await org.booked(['/t/1']);
    const broken = await session.register('/t/2');
    const failure = { error: 'sold out', outcome: 'not_applied' };
    expect((await org.post(`/v1/effects/${broken.effect_id}/fail`, failure)).status).toBe(200);
    await session.book('/t/2');
    expect((await org.post(`${session.path}/complete`)).status).toBe(200);
    expect(await session.view()).toMatchObject({ state: 'completed', effects_standing: [] });
    expect([session.undos(), session.standing().length]).toEqual([[], 2]);
  });

  it('may be left in doubt where the agent says so, and only where it was reported', async () => {
    const session = await org.booked(['/t/1']);
    const doubtful = await session.bookUnreported('/t/2');
    const complete = async (body: object): Promise<unknown[]> => {
      const answer = await org.post(`${session.path}/complete`, body);
      return [answer.status, bodyOf(answer)['code'] ?? bodyOf(answer)['state']];
    };
    expect(await complete({ leave_unknown: true })).toEqual([409, 'effects_in_flight']);
    const doubt = { error: 'timeout', outcome: 'unknown' };
    expect((await org.post(`/v1/effects/${doubtful.effect_id}/fail`, doubt)).status).toBe(200);
    expect(await complete({})).toEqual([409, 'effects_in_flight']);
    expect(await complete({ leave_unknown: true })).toEqual([200, 'completed']);
    expect((await session.view()).effects_standing).toMatchObject([
      { effect_id: doubtful.effect_id, outcome: 'unknown', stack_position: 2 },
    ]);
    expect(session.undos()).toEqual([]);
  });
});
