import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession, type Answer, type DeadLetterShown, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

type Action = 'retry' | 'skip' | 'resolve' | 'confirm';

const ACTIONS: Readonly<Record<Action, { body: object; answers: number; ends: 'compensated' | 'resolved' }>> = {
  retry: { body: {}, answers: 202, ends: 'compensated' },
  skip: { body: { reason: 'the guest keeps the room' }, answers: 202, ends: 'compensated' },
  resolve: { body: { reason: 'refunded by hand', evidence: { ticket: 17 } }, answers: 200, ends: 'resolved' },
  confirm: { body: {}, answers: 200, ends: 'compensated' },
};

const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };

let world: World;
let org: Org;
beforeAll(async () => {
  world = await openWorld({ name: 'dead_letters', compensators: 2 });
  org = await world.newOrg();
});
afterAll(() => world.close());

const record = (): object => ({
  confirm: {
    url: `${world.vendor.url}/record/{args.ref}`,
    done_when: { pointer: '/state', equals: 'cancelled' },
    budget_ms: 200,
    interval_ms: 50,
  },
});

/** A session of three bookings whose second undo is refused once, and its dead letter. */
async function halted(name: string): Promise<{ session: AgentSession; letter: DeadLetterShown }> {
  const middle = `/refused/${name}`;
  world.vendor.script(middle, { status: 400 });
  const session = await org.open();
  await session.book('/fine');
  await session.book(middle, {}, { fn_name: await org.compensation(middle, { ...ONCE, ...record() }) });
  await session.book('/fine');
  await session.fail();
  await session.reaches('halted');
  const [letter] = await org.deadLetters(session.id);
  return { session, letter: letter! };
}

/** The middle booking is cancelled behind UndoLog's back, so that its record agrees. */
const cancelByHand = (session: AgentSession): void => world.vendor.cancelQuietly(org.orgId, `${session.id}#2`);

function act(letter: DeadLetterShown, action: Action, headers: Record<string, string> = {}): Promise<Answer> {
  const path = `/v1/dead-letters/${letter.dead_letter_id}/${action}`;
  return org.settled(() => org.post(path, ACTIONS[action].body, headers));
}

async function actionsOf(session: AgentSession): Promise<string[]> {
  const { data } = await org.get<{ data: { action: string }[] }>(`/v1/audit?session_id=${session.id}&limit=200`);
  return data.map((entry) => entry.action).toReversed();
}

/** What every action must have left behind, however often it was pressed. */
async function expectDoneOnce(session: AgentSession, action: Action): Promise<void> {
  await session.reaches(ACTIONS[action].ends);
  const tried = action === 'retry' ? [3, 2, 2, 1] : action === 'resolve' ? [3, 2] : [3, 2, 1];
  expect(await session.calledPositions()).toEqual(tried);
  expect(await session.faults()).toEqual([]);
  const stands = action === 'skip' ? ['#2'] : action === 'resolve' ? ['#1', '#2'] : [];
  expect(session.standing().map((ref) => ref.slice(-2))).toEqual(stands);
  const letters = await org.deadLetters(session.id);
  expect(letters.map(({ state, closed }) => [state, closed?.as])).toEqual([['closed', action]]);
  const audited = (await actionsOf(session)).filter((name) => name.startsWith('dead_letter.'));
  expect(audited).toEqual([`dead_letter.${action}`]);
}

describe.concurrent.each(Object.keys(ACTIONS) as Action[])('%s', (action) => {
  const prepare = async (name: string): Promise<{ session: AgentSession; letter: DeadLetterShown }> => {
    const found = await halted(`${action}/${name}`);
    if (action === 'confirm') cancelByHand(found.session);
    return found;
  };

  it('pressed twice is done once; the second press is told that the letter is closed', async () => {
    const { session, letter } = await prepare('twice');
    expect((await act(letter, action)).status).toBe(ACTIONS[action].answers);
    const again = await act(letter, action);
    expect([again.status, bodyOf(again)['code']]).toEqual([409, 'dead_letter_closed']);
    await expectDoneOnce(session, action);
  });

  it('pressed by eight people at once, each on what they saw, is done once', async () => {
    const { session, letter } = await prepare('at once');
    const headers = { 'if-match': `"${letter.version}"` };
    const answers = await Promise.all(Array.from({ length: 8 }, () => act(letter, action, headers)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === ACTIONS[action].answers)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409 || status === 412)).toHaveLength(7);
    await expectDoneOnce(session, action);
  });

  it('on what is no longer so is refused, and changes nothing', async () => {
    const { session, letter } = await prepare('stale');
    const stale = await act(letter, action, { 'if-match': `"${letter.version + 1}"` });
    expect([stale.status, bodyOf(stale)['code']]).toEqual([412, 'dead_letter_changed']);
    expect((await session.view()).state).toBe('halted');
    expect((await act(letter, action, { 'if-match': `"${letter.version}"` })).status).toBe(ACTIONS[action].answers);
    await expectDoneOnce(session, action);
  });
});

describe('an api that is killed in the middle of an action', () => {
  it('has done it or not; the repeat under the same key finds out, and it is done once', async () => {
    for (const action of Object.keys(ACTIONS) as Action[]) {
      const { session, letter } = await halted(`killed/${action}`);
      if (action === 'confirm') cancelByHand(session);
      const headers = { 'idempotency-key': randomUUID() };
      const first = act(letter, action, headers).catch(() => undefined);
      await sleep(3);
      await world.api.kill();
      await first;
      await world.api.start();
      const again = await act(letter, action, headers);
      // An action that asks a vendor commits beside its record, so its repeat may find the letter closed.
      expect(action === 'confirm' ? [200, 409] : [ACTIONS[action].answers]).toContain(again.status);
      await expectDoneOnce(session, action);
    }
  });
});

describe.concurrent('a dead letter', () => {
  it('says what broke, and is found by each of its traits', async () => {
    const { session, letter } = await halted('traits');
    expect(letter).toMatchObject({ code: 'http_400', attempts: 1, version: 1, stack_position: 2 });
    expect(letter.last_attempt).toMatchObject({ status: 400, outcome: 'refused' });
    const found = async (query: Record<string, string>): Promise<boolean> => {
      const search = new URLSearchParams({ limit: '200', ...query }).toString();
      const { data } = await org.get<{ data: DeadLetterShown[] }>(`/v1/dead-letters?${search}`);
      return data.some((one) => one.session_id === session.id);
    };
    const { origin } = new URL(world.vendor.url);
    const hour = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
    for (const query of [
      { fn_name: letter.fn_name! },
      { host: origin },
      { code: 'http_400' },
      { state: 'open' },
      { halted_before: hour(1), halted_after: hour(-1) },
    ]) {
      expect([query, await found(query)]).toEqual([query, true]);
    }
    for (const query of [
      { fn_name: 'another' },
      { host: 'https://elsewhere.example' },
      { code: 'http_401' },
      { agent_name: 'nobody' },
      { state: 'closed' },
      { halted_after: hour(1) },
    ]) {
      expect([query, await found(query)]).toEqual([query, false]);
    }
    await session.act('resolve', { reason: 'only looked at' });
  });

  it('is retried with corrected arguments under a new key, and both stay in the stack', async () => {
    world.vendor.script('/corrected', { status: 422 });
    const session = await org.booked(['/fine', '/corrected'], { spec: ONCE });
    await session.fail();
    await session.reaches('halted');
    const unresolved = await session.act('retry', { args: { ref: { $args: '/nowhere' } } });
    expect([unresolved.status, bodyOf(unresolved)['code']]).toEqual([422, 'unresolved_reference']);
    const unknown = await session.act('retry', { version: 'none' });
    expect([unknown.status, bodyOf(unknown)['code']]).toEqual([422, 'unknown_compensation']);
    await session.retry({ args: { ref: { $args: '/ref' }, note: 'corrected' }, reason: 'the note was missing' });
    await session.reaches('compensated');
    const [first, second] = session.undos();
    expect(JSON.parse(second!.body.toString())).toEqual({ ref: `${session.id}#2`, note: 'corrected' });
    expect(second!.key).not.toBe(first!.key);
    expect((await session.stack()).map(({ state, generation }) => [state, generation])).toEqual([
      ['compensated', 2],
      ['failed', 1],
      ['compensated', 1],
    ]);
    expect(session.standing()).toEqual([]);
    expect(await actionsOf(session)).toContain('undo.corrected');
  });

  it('whose call may have taken effect is not corrected, whatever became of its answer', async () => {
    const ways = [{ status: 503 }, { ends: 'reset' as const }];
    for (const [index, way] of ways.entries()) {
      world.vendor.script(`/maybe/${index}`, way);
      const session = await org.booked([`/maybe/${index}`], { spec: ONCE });
      await session.fail();
      await session.reaches('halted');
      const answer = await session.act('retry', { args: { ref: 'other' } });
      expect([answer.status, bodyOf(answer)['code']]).toEqual([409, 'outcome_unknown']);
      await session.retry();
      await session.reaches('compensated');
      expect(await session.faults()).toEqual([]);
    }
  });

  it('is not confirmed by a record that shows the booking standing, and nothing is sent', async () => {
    const { session } = await halted('standing');
    const calls = session.undos().length;
    const answer = await session.act('confirm');
    expect([answer.status, bodyOf(answer)]).toEqual([200, { confirmed: false, state: 'halted' }]);
    expect(session.undos()).toHaveLength(calls);
    world.vendor.script('/unasked', { status: 400 });
    const other = await org.booked(['/unasked'], { spec: ONCE });
    await other.fail();
    await other.reaches('halted');
    const refused = await other.act('confirm');
    expect([refused.status, bodyOf(refused)['code']]).toEqual([422, 'no_confirm']);
    for (const one of [session, other]) await one.act('resolve', { reason: 'only looked at' });
  });
});

describe('many dead letters at once', () => {
  it('are counted first, then retried at the rate that was asked for, each once, however often it is repeated', async () => {
    const path = '/bulk';
    world.vendor.always(path, { status: 400 });
    const sessions = await Promise.all(Array.from({ length: 30 }, () => org.booked([path], { spec: ONCE })));
    await Promise.all(sessions.map((session) => session.fail()));
    await Promise.all(sessions.map((session) => session.reaches('halted')));
    world.vendor.heal(path);
    const fnName = await org.compensation(path, ONCE);
    const bulk = { action: 'retry', filter: { fn_name: fnName } };
    const counted = await org.post('/v1/dead-letters/bulk', { ...bulk, dry_run: true });
    expect([counted.status, bodyOf(counted)['matched']]).toEqual([200, 30]);
    expect((await sessions[0]!.view()).state).toBe('halted');
    const paced = { ...bulk, per_second: 20 };
    const answers = await Promise.all([1, 2, 3].map(() => org.post('/v1/dead-letters/bulk', paced)));
    const applied = answers.map((answer) => bodyOf<{ applied: number }>(answer).applied);
    expect(applied.reduce((sum, count) => sum + count)).toBe(30);
    await Promise.all(sessions.map((session) => session.reaches('compensated')));
    const calls = world.vendor.ledger.at(path).slice(30);
    expect(calls).toHaveLength(30);
    expect(calls.at(-1)!.receivedAtMs - calls[0]!.receivedAtMs).toBeGreaterThan(400);
    const nothing = await org.post('/v1/dead-letters/bulk', { ...bulk, filter: {} });
    expect(nothing.status).toBe(400);
  });
});
