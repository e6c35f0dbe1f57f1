import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('an agent that calls agents with sessions of their own', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'nested', compensators: 2 });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const child = (parent: AgentSession, position: number, paths: readonly string[]): Promise<AgentSession> =>
    org.booked(paths, { session: { parent: { session_id: parent.id, stack_position: position } } });

  it('has the work of all of them undone in order when it fails, also what they had completed (C46)', async () => {
    const parent = await org.booked(['/n/p1', '/n/p2', '/n/p3']);
    const completed = await child(parent, 2, ['/n/c1', '/n/c2']);
    const grandchild = await child(completed, 1, ['/n/g1']);
    expect((await org.post(`${completed.path}/complete`)).status).toBe(200);
    const active = await child(parent, 3, ['/n/a1']);
    await parent.fail();
    await parent.reaches('compensated');
    const family = [parent, completed, grandchild, active];
    const calls = family.flatMap((session) => session.undos()).toSorted((a, b) => a.sequence - b.sequence);
    expect(calls.map((call) => call.path)).toEqual(
      ['a1', 'p3', 'c2', 'g1', 'c1', 'p2', 'p1'].map((name) => `/n/${name}`),
    );
    expect(family.flatMap((session) => session.standing())).toEqual([]);
    expect(await completed.view()).toMatchObject({
      state: 'compensated',
      parent: { session_id: parent.id, stack_position: 2 },
      failure: { kind: 'parent' },
    });
  });

  it('is halted by a child that is halted, and tells which', async () => {
    world.vendor.always('/n/refused', { status: 400 });
    const parent = await org.booked(['/n/q1']);
    const broken = await child(parent, 1, ['/n/refused']);
    await parent.fail();
    await parent.reaches('halted');
    expect((await broken.view()).state).toBe('halted');
    expect(await org.deadLetters(parent.id)).toMatchObject([
      { code: 'child_halted', child_session_id: broken.id, undo_id: null, stack_position: 1, broken: [] },
    ]);
    expect(parent.undos()).toEqual([]);
  });

  it('can not be nobody, somebody of another org, the session itself, or one that has ended', async () => {
    const stranger = await (await world.newOrg()).open();
    const ended = await org.open();
    await ended.fail();
    const tried = async (parentId: string, sessionId: string): Promise<unknown[]> => {
      const body = { session_id: sessionId, parent: { session_id: parentId, stack_position: 1 } };
      const answer = await org.post('/v1/sessions', body);
      return [answer.status, bodyOf(answer)['code']];
    };
    expect(await tried('nobody', 'of-nobody')).toEqual([422, 'unknown_parent']);
    expect(await tried(stranger.id, 'of-a-stranger')).toEqual([422, 'unknown_parent']);
    expect(await tried('itself', 'itself')).toEqual([422, 'unknown_parent']);
    expect(await tried(ended.id, 'too-late')).toEqual([409, 'session_not_active']);
  });
});
