import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('an agent that does something again', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'repeats' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('with another body under the same key is refused, also meanwhile, and the first stands (C98, C93)', async () => {
    const session = await org.open();
    const headers = { 'idempotency-key': randomUUID() };
    const register = (amount: number): Promise<{ status: number; text: string }> =>
      org.post(
        `${session.path}/effects`,
        { tool_name: 'mail', effect_class: 'irreversible', args: { amount } },
        headers,
      );
    const answers = await Promise.all([10, 10, 10, 99].map(register));
    // Any of them may have come first.
    const [theFirst, theOther] = answers[3]!.status === 201 ? [99, 10] : [10, 99];
    const again = await register(theFirst!);
    const settled = answers.filter((answer) => answer.status === 201 && answer.text === again.text);
    expect(again.status).toBe(201);
    expect(settled.length).toBeGreaterThan(0);
    for (const { status } of answers) expect([201, 409, 422]).toContain(status);
    expect((await register(theOther!)).status).toBe(422);
    expect(await session.stack()).toHaveLength(1);
    // A key belongs to its path.
    const elsewhere = await org.post(`${session.path}/heartbeat`, {}, headers);
    expect(elsewhere.status).toBe(200);
  });

  it('after its session was undone, under the same session id, is refused, and nothing is undone twice (C111)', async () => {
    const session = await org.booked(['/again']);
    await session.fail();
    await session.reaches('compensated');
    const reopened = await org.post('/v1/sessions', { session_id: session.id });
    expect([reopened.status, bodyOf(reopened)['state']]).toEqual([200, 'compensated']);
    const answer = await session.tryRegister('/again');
    expect([answer.status, bodyOf(answer)['code']]).toEqual([409, 'session_not_active']);
    await session.fail('once more');
    expect(session.undos()).toHaveLength(1);
  });

  it('under another call_id, with equal arguments, has done it twice, and both are undone (C118)', async () => {
    const session = await org.open();
    const args = { ref: `${session.id}#same` };
    const [first, second] = [await session.register('/twice', { args }), await session.register('/twice', { args })];
    expect(first.idempotency_key).not.toBe(second.idempotency_key);
    for (const { effect_id: effectId } of [first, second]) await session.commit(effectId, { ok: true });
    await session.fail();
    await session.reaches('compensated');
    expect(new Set(session.undos().map((call) => call.key)).size).toBe(2);
    expect(await session.calledPositions()).toEqual([2, 1]);
  });

  it('and has mailed in between: the mail is passed by, stands, and is nobody’s dead letter (C114)', async () => {
    const session = await org.booked(['/before']);
    const mail = await org.post(`${session.path}/effects`, {
      tool_name: 'mail',
      effect_class: 'irreversible',
      args: {},
    });
    const { effect_id: mailId } = bodyOf<{ effect_id: string }>(mail);
    await session.commit(mailId);
    await session.book('/after');
    await session.fail();
    const shown = await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([3, 1]);
    expect(session.standing()).toEqual([]);
    expect(shown.fully_compensated).toBe(false);
    expect(shown.effects_standing).toMatchObject([{ effect_id: mailId, reason: 'irreversible' }]);
    expect(await org.deadLetters(session.id)).toEqual([]);
  });
});
