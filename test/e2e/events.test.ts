import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentSession, bodyOf, type Org } from '../support/api-client.js';
import { EventAgent, registeredOf, type EventResult } from '../support/event-agent.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('an agent that reports by events', () => {
  let world: World;
  let org: Org;
  let undo: string;
  beforeAll(async () => {
    world = await openWorld({ name: 'events' });
    org = await world.newOrg();
    undo = await org.compensation('/undo');
  });
  afterAll(() => world.close());

  const newSession = (): AgentSession => new AgentSession(org, randomUUID());
  const statuses = (results: readonly EventResult[]): number[] => results.map(({ status }) => status);

  /** Calls the vendor for a registration that came by event. */
  async function call(session: AgentSession, result: EventResult, ref: string): Promise<[string, unknown]> {
    const registered = registeredOf(result);
    session.refs.set(registered.effect_id, ref);
    return [registered.effect_id, await session.callVendor(registered)];
  }

  it('settles one step and registers the next in one request, and is unwound last first', async () => {
    const agent = new EventAgent(org);
    const session = newSession();
    const { id } = session;
    const started = await agent.results(
      agent.event('session.started', { session_id: id }),
      agent.registration(id, undo, `${id}#1`),
    );
    expect(statuses(started)).toEqual([201, 201]);
    const [first, result] = await call(session, started[1]!, `${id}#1`);
    const next = await agent.results(
      agent.event('effect.committed', { effect_id: first, result }),
      agent.registration(id, undo, `${id}#2`),
    );
    expect(statuses(next)).toEqual([200, 201]);
    const [second] = await call(session, next[1]!, `${id}#2`);
    const ended = await agent.results(
      agent.event('effect.failed', { effect_id: second, error: 'no answer', outcome: 'unknown' }),
      agent.event('session.failed', { session_id: id, reason: 'gave up' }),
    );
    expect(statuses(ended)).toEqual([200, 202]);
    await session.reaches('compensated');
    expect(session.standing()).toEqual([]);
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(await session.faults()).toEqual([]);
  });

  it('applies the events of one session in their order, of many sessions in one batch', async () => {
    const agent = new EventAgent(org);
    const ids = Array.from({ length: 10 }, () => randomUUID());
    const opened = ids.map((id) => agent.event('session.started', { session_id: id }));
    const registered = [1, 2, 3].flatMap((n) => ids.map((id) => agent.registration(id, undo, `${id}#${n}`)));
    const failed = ids.map((id) => agent.event('session.failed', { session_id: id, reason: 'a test' }));
    const refused = ids.map((id) => agent.registration(id, undo, `${id}#4`));
    const results = await agent.results(...opened, ...registered, ...failed, ...refused);
    const codes = [...Array<number>(40).fill(201), ...Array<number>(10).fill(202), ...Array<number>(10).fill(409)];
    expect(statuses(results)).toEqual(codes);
    const positions = results.slice(10, 40).map(({ body }) => body['stack_position']);
    expect(positions).toEqual([1, 2, 3].flatMap((n) => Array<number>(10).fill(n)));
    for (const id of ids) {
      const session = new AgentSession(org, id);
      await session.reaches('compensated');
      expect(await session.calledPositions()).toEqual([3, 2, 1]);
    }
  });

  it('gets the same answer for a repeat, alone, beside new events and at the same moment, and nothing is done twice', async () => {
    const agent = new EventAgent(org);
    const { id } = newSession();
    const batch = [agent.event('session.started', { session_id: id }), agent.registration(id, undo, 'a')];
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => agent.results(...batch)));
    const effectIds = [first!, ...others].map(([, registered]) => registered!.body['effect_id']);
    const settled = effectIds.filter((effectId) => effectId !== undefined);
    expect(new Set(settled).size).toBe(1);
    const again = await agent.results(...batch, agent.registration(id, undo, 'b'));
    expect(again.map(({ status, replayed }) => [status, replayed])).toEqual([
      [201, true],
      [201, true],
      [201, undefined],
    ]);
    expect(again[1]!.body['effect_id']).toBe(settled[0]);
    expect(await new AgentSession(org, id).stack()).toHaveLength(2);
  });

  it('is not told to execute again once its session has ended', async () => {
    const agent = new EventAgent(org);
    const { id } = newSession();
    const registration = agent.registration(id, undo, 'a');
    await agent.results(agent.event('session.started', { session_id: id }), registration);
    await new AgentSession(org, id).fail();
    const [again] = await agent.results(registration);
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'session_not_active', decision: 'refuse' },
      replayed: true,
    });
  });

  it('has each bad event refused by itself, and those around it settled', async () => {
    const agent = new EventAgent(org);
    const { id } = newSession();
    const start = agent.event('session.started', { session_id: id });
    const results = await agent.results(
      start,
      { nonsense: true },
      agent.event('session.started', { session_id: id, extra: 1 }),
      agent.event('effect.committed', { effect_id: randomUUID() }),
      agent.event('session.renamed', { session_id: id }),
      { ...start, specversion: '0.3' },
      agent.event('effect.registered', { tool_name: 'book' }),
      agent.event('session.started', { session_id: id }, { data: [1] }),
      { ...start, data: { session_id: randomUUID() } },
      { ...start, comexampleextension: 'is left alone' },
      agent.registration(id, 'nothing of this name', 'x'),
      agent.registration(id, undo, 'y'),
    );
    expect(statuses(results)).toEqual([201, 400, 400, 404, 400, 400, 400, 400, 422, 201, 422, 201]);
    expect(results.map(({ id: eventId }) => eventId)).toEqual(
      [1, null, 2, 3, 4, 1, 5, 6, 1, 1, 7, 8].map((n) => (n === null ? null : String(n))),
    );
    expect(results[8]!.body['code']).toBe('event_reused');
    expect(results[9]!.replayed).toBe(true);
    expect(await new AgentSession(org, id).stack()).toHaveLength(1);
  });

  it('may send a refusal again that was not kept, and gets the one that was', async () => {
    const agent = new EventAgent(org);
    const { id } = newSession();
    const late = agent.event('session.failed', { session_id: id, reason: 'too soon' });
    expect(statuses(await agent.results(late))).toEqual([404]);
    await agent.results(agent.event('session.started', { session_id: id }));
    expect(statuses(await agent.results(late))).toEqual([202]);
    const other = newSession();
    await agent.results(agent.event('session.started', { session_id: other.id }));
    const refused = agent.registration(other.id, 'comes later', 'x');
    expect(statuses(await agent.results(refused))).toEqual([422]);
    expect((await agent.results(refused))[0]).toMatchObject({ status: 422, replayed: true });
  });

  it('completes by event, and whoever commits first wins', async () => {
    const agent = new EventAgent(org);
    const { id } = newSession();
    const results = await agent.results(
      agent.event('session.started', { session_id: id }),
      agent.event('session.completed', { session_id: id }),
      agent.event('session.failed', { session_id: id, reason: 'too late' }),
    );
    expect(statuses(results)).toEqual([201, 200, 409]);
    expect((await new AgentSession(org, id).view()).state).toBe('completed');
  });

  it('is refused what is no batch of at most 500 events, and may carry an Idempotency-Key', async () => {
    const agent = new EventAgent(org);
    const event = agent.event('session.started', { session_id: randomUUID() });
    const json = await org.post('/v1/events', [event]);
    expect([json.status, bodyOf(json)['code']]).toEqual([415, 'unsupported_media_type']);
    for (const batch of [[], Array.from({ length: 501 }, () => event)])
      expect((await agent.send(batch)).status).toBe(400);
    const headers = { 'idempotency-key': randomUUID() };
    const first = await agent.send([event], headers);
    const again = await agent.send([event], headers);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    const other = agent.event('session.started', { session_id: randomUUID() });
    expect((await agent.send([other], headers)).status).toBe(422);
  });

  it('is one of its org’s: another org’s effects and events are not there', async () => {
    const others = await world.newOrg();
    const mine = new EventAgent(org);
    const { id } = newSession();
    const batch = [mine.event('session.started', { session_id: id }), mine.registration(id, undo, 'a')];
    const [, registered] = await mine.results(...batch);
    const theirs = new EventAgent(others);
    const commit = theirs.event('effect.committed', { effect_id: registeredOf(registered!).effect_id });
    expect(statuses(await theirs.results(commit))).toEqual([404]);
    const answer = await others.post('/v1/events', JSON.stringify(batch.slice(0, 1)), {
      'content-type': 'application/cloudevents-batch+json',
    });
    expect(bodyOf<{ results: EventResult[] }>(answer).results[0]).not.toHaveProperty('replayed');
  });
});
