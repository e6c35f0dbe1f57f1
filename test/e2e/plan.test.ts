import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

interface Plan {
  readonly steps: readonly { readonly stack_position: number; readonly action: string; readonly reason: string }[];
  readonly cannot_undo: readonly string[];
  readonly unknown: readonly string[];
  readonly digest: string;
}

describe.concurrent('a plan', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'plan' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  async function plan(session: AgentSession, body: object = {}): Promise<Plan> {
    const answer = await org.post(`${session.path}/plan`, body);
    expect(answer.status, answer.text).toBe(200);
    return bodyOf<Plan>(answer);
  }

  it('tells what an unwind would do, from the top, and changes nothing', async () => {
    const session = await org.booked(['/p/1']);
    const looked = await org.compensation('/p/2', { lookup: { url: `${world.vendor.url}/record/{args.ref}` } });
    const unknown = await session.register('/p/2', {}, { fn_name: looked });
    const mail = await session.register('/p/3', { effect_class: 'irreversible', compensation: undefined });
    const before = await session.stack();
    const planned = await plan(session);
    expect(planned.steps.map((step) => [step.stack_position, step.action, step.reason])).toEqual([
      [3, 'skip', 'irreversible'],
      [2, 'lookup', 'outcome_unknown'],
      [1, 'call', 'committed'],
    ]);
    expect(planned.cannot_undo).toEqual([mail.effect_id]);
    expect(planned.unknown).toContain(unknown.effect_id);
    expect((await plan(session, { to_position: 1 })).steps).toHaveLength(2);
    expect(await session.stack()).toEqual(before);
    expect(await session.view()).toMatchObject({ state: 'active' });
    expect((await org.post('/v1/sessions/nobody/plan')).status).toBe(404);
  });

  it('tells that an undo is too late where the window of its vendor is over', async () => {
    const session = await org.booked(['/p/9'], { spec: { undo_deadline_seconds: 1000 } });
    expect((await plan(session)).steps[0]).toMatchObject({ action: 'call' });
    await world.rows(
      `UPDATE undolog_effect_log SET committed_at = committed_at - interval '1 hour' WHERE session_id = $1`,
      session.id,
    );
    expect((await plan(session)).steps[0]).toMatchObject({ action: 'skip', reason: 'undo_deadline_passed' });
  });

  it.each([
    ['fail', { reason: 'r' }, {}],
    ['cancel', { reason: 'r' }, {}],
    ['rollback', { to_position: 1 }, { to_position: 1 }],
  ])('is a condition of %s: nothing starts once something else would be undone', async (route, body, down) => {
    const session = await org.booked(['/p/4', '/p/5']);
    const { digest: stale } = await plan(session, down);
    await session.book('/p/6');
    const refused = await org.post(`${session.path}/${route}`, { ...body, plan_digest: stale });
    expect([refused.status, bodyOf(refused)]).toMatchObject([409, { code: 'plan_changed' }]);
    expect(await session.view()).toMatchObject({ state: 'active', rollback_to: null, failure: null });

    const { digest } = await plan(session, down);
    expect((await org.post(`${session.path}/${route}`, { ...body, plan_digest: digest })).status).toBe(202);
    await session.reaches(route === 'rollback' ? 'active' : 'compensated');
    expect(await session.calledPositions()).toEqual(route === 'rollback' ? [3, 2] : [3, 2, 1]);
    if (route === 'rollback') return;
    // Its answer may have been lost: the repeat starts nothing and is told the same.
    const again = await org.post(`${session.path}/${route}`, { ...body, plan_digest: digest });
    expect([again.status, bodyOf(again)]).toMatchObject([202, { state: 'compensated' }]);
  });
});
