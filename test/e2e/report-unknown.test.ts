import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type AgentSession, type EntryShown, type Org, type Registered } from '../support/api-client.js';
import type { Step } from '../support/vendor-simulator.js';
import { openWorld, type World } from '../support/world.js';

const SOON = { timeout: 15_000, interval: 50 };

describe.concurrent('a call that is reported as unknown while its session goes on', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'report_unknown' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  /** A session with one booking that the agent calls unknown, and a vendor that answers the look-ups so. */
  async function reported(name: string, ...answers: Step[]): Promise<{ session: AgentSession; effect: Registered }> {
    world.vendor.script(`/find/${name}`, ...answers);
    const fnName = await org.compensation(`/${name}`, {
      retry: { max_retries: 1, initial_ms: 20 },
      lookup: {
        url: `${world.vendor.url}/find/${name}`,
        result_pointer: '/0',
        absent_on_status: [404],
        settle_ms: 300,
      },
    });
    const session = await org.open();
    // No report would be waited for this long.
    const waits = { call_timeout_ms: 600_000 };
    const effect = await session.bookUnreported(`/${name}`, waits, {
      fn_name: fnName,
      args: { ref: { $args: '/ref' }, id: { $result: '/id' } },
    });
    const answer = await org.post(`/v1/effects/${effect.effect_id}/fail`, { error: 'timeout', outcome: 'unknown' });
    expect([answer.status, bodyOf(answer)]).toMatchObject([200, { state: 'executing', undo_id: effect.undo_id }]);
    return { session, effect };
  }

  const found: Step = { status: 200, body: '[{"id": "b-1"}]' };

  async function becomes(session: AgentSession, state: EntryShown['state']): Promise<EntryShown> {
    return vi.waitFor(async () => {
      const [entry] = await session.stack();
      expect(entry!.state).toBe(state);
      return entry!;
    }, SOON);
  }

  it('is committed with what the vendor shows; the session may then complete, and nothing is undone', async () => {
    const { session } = await reported('found', found);
    expect((await org.post(`${session.path}/complete`)).status).toBe(409);
    const entry = await becomes(session, 'active');
    expect(entry.effect).toMatchObject({ state: 'committed', result: { id: 'b-1' } });
    expect((await org.post(`${session.path}/complete`)).status).toBe(200);
    expect(session.undos()).toEqual([]);
  });

  it('is undone as a committed one should the session fail after it was found', async () => {
    const { session } = await reported('found-then-failed', found);
    await becomes(session, 'active');
    await session.fail();
    await session.reaches('compensated');
    expect(session.undos().map((call) => JSON.parse(call.body.toString()) as unknown)).toEqual([
      { ref: `${session.id}#1`, id: 'b-1' },
    ]);
    expect(session.undos()[0]!.headers['undolog-effect-outcome']).toBe('committed');
    expect(session.questionsAbout()).toHaveLength(1);
  });

  it('has failed when it is absent twice, and a success report after that arms a new undo', async () => {
    const { session, effect } = await reported('absent', { status: 404 }, { status: 200, body: '[]' });
    const entry = await becomes(session, 'skipped');
    expect(entry).toMatchObject({ reason: 'effect_absent', effect: { state: 'failed' } });
    expect(session.questionsAbout()).toHaveLength(2);
    const answer = await session.commit(effect.effect_id, { id: 'b-2' });
    const armed = bodyOf<{ undo_id: string }>(answer);
    expect(answer.status).toBe(200);
    expect(armed.undo_id).not.toBe(effect.undo_id);
    await session.fail();
    await session.reaches('compensated');
    expect(session.undos().map((call) => call.key)).toEqual([`undo-${armed.undo_id}`]);
    expect(session.standing()).toEqual([]);
  });

  it('stays unknown where nobody could look, and its unwind looks again without waiting for the call', async () => {
    const { session } = await reported('unseen', { status: 500 }, { status: 500 });
    world.vendor.always('/find/unseen', found);
    await vi.waitFor(() => expect(session.questionsAbout()).toHaveLength(2), SOON);
    expect(await becomes(session, 'pending')).toMatchObject({ effect: { state: 'executing', result: null } });
    expect((await org.post(`${session.path}/complete`)).status).toBe(409);
    await session.fail();
    await session.reaches('compensated');
    expect(session.undos().map((call) => call.headers['undolog-effect-outcome'])).toEqual(['unknown']);
    expect(session.standing()).toEqual([]);
  });

  it('is left alone once the session has completed without it', async () => {
    const { session } = await reported('left', { status: 404 }, found);
    await vi.waitFor(() => expect(session.questionsAbout()).toHaveLength(1), SOON);
    expect((await org.post(`${session.path}/complete`, { leave_unknown: true })).status).toBe(200);
    const view = await session.view();
    expect(view.effects_standing).toMatchObject([{ outcome: 'unknown' }]);
    expect((await session.stack())[0]!.state).toBe('pending');
  });
});
