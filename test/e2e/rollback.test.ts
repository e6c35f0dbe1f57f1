import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type Answer, type AgentSession, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('a rollback to a position', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'rollback' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const rollBack = (session: AgentSession, toPosition: unknown): Promise<Answer> =>
    org.post(`${session.path}/rollback`, { to_position: toPosition });

  it('leaves what is below standing, lets the agent go on, and a later failure undoes the rest once', async () => {
    let release = (): void => undefined;
    world.vendor.script('/r/5', { until: new Promise<void>((resolve) => (release = resolve)) });
    const session = await org.booked(['/r/1', '/r/2', '/r/3', '/r/4', '/r/5']);
    const answer = await rollBack(session, 2);
    expect([answer.status, bodyOf(answer)]).toEqual([202, { session_id: session.id, state: 'compensating' }]);
    const refused = await session.tryRegister('/r/1');
    expect([refused.status, bodyOf(refused)]).toMatchObject([409, { code: 'session_not_active' }]);
    release();
    expect(await session.reaches('active')).toMatchObject({ rollback_to: null, failure: null });
    expect(session.standing()).toHaveLength(2);

    const next = await session.book('/r/1');
    expect(next.stack_position).toBe(6);
    await session.fail();
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([5, 4, 3, 6, 2, 1]);
    expect(session.standing()).toEqual([]);
    expect(new Set(session.undos().map((call) => call.key)).size).toBe(6);
  });

  it('undoes a call that lands after it alone, and leaves the session active with what came since', async () => {
    const session = await org.booked(['/r/1']);
    const slow = await session.register('/r/slow');
    await rollBack(session, 1);
    await session.reaches('active');
    await session.book('/r/since');
    const result = await session.callVendor(slow);
    const late = await session.commit(slow.effect_id, result);
    expect([late.status, bodyOf(late)]).toMatchObject([409, { code: 'session_not_active', decision: 'undo' }]);
    await vi.waitFor(() => expect(session.standing()).toHaveLength(2), { timeout: 20_000 });
    await session.reaches('active');
    expect(await session.calledPositions()).toEqual([2, 2]);
    expect((await org.post(`${session.path}/complete`)).status).toBe(200);
  });

  it.each([
    ['a position that is none', { to_position: 'x' }, 400],
    ['a position below all', { to_position: -2 }, 400],
    ['no position', {}, 400],
  ])('refuses %s', async (_, body, status) => {
    const session = await org.open();
    expect((await org.post(`${session.path}/rollback`, body)).status).toBe(status);
  });
});
