import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type AgentSession, type Org } from '../support/api-client.js';
import { databaseText, found, redisText } from '../support/leak-search.js';
import { openWorld, prepareWorld, type World } from '../support/world.js';

const ARGS = { note: 'Bearer c4n4ry-note', password: 'c4n4ry-password' };
const RESULT = { booking_id: 'c4n4ry-result' };
const SIGNING = randomBytes(24).toString('base64');
const CANARIES = [
  ARGS.note,
  ARGS.password,
  RESULT.booking_id,
  'c4n4ry-undo',
  'c4n4ry-header',
  'c4n4ry-secret',
  'c4n4ry-error',
  'c4n4ry-answer',
  SIGNING,
];

describe('with an encryption key', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'encryption', env: { LOG_LEVEL: 'trace' } });
    org = await world.newOrg();
    expect((await org.request('PUT', '/v1/secrets/token', { value: 'Bearer c4n4ry-secret' })).status).toBe(204);
    expect((await org.request('PUT', '/v1/signing-secret', { secret: `whsec_${SIGNING}` })).status).toBe(204);
  });
  afterAll(() => world.close());

  const spec = (): object => ({
    headers: { 'x-test-org': org.orgId, 'x-key': 'c4n4ry-header', authorization: { secret: 'token' } },
    retry: { max_retries: 1, initial_ms: 1500, jitter: 'none' },
  });

  /** Registers, commits and repeats both, so that answers with a result are kept. */
  async function bookWithCanaries(session: AgentSession, path: string): Promise<string> {
    const call = {
      tool_name: 'book',
      call_id: randomUUID(),
      args: { ...ARGS, ref: randomUUID() },
      effect_class: 'compensable',
      compensation: {
        fn_name: await org.compensation(path, spec()),
        version: '1',
        args: { all: { $args: '' }, id: { $result: '/booking_id' }, own: 'c4n4ry-undo' },
      },
    };
    const effects = `${session.path}/effects`;
    const first = await org.post(effects, call, { 'idempotency-key': randomUUID() });
    expect(first.status, first.text).toBe(201);
    const { effect_id: effectId } = bodyOf<{ effect_id: string }>(first);
    for (const key of ['one', 'one', 'two']) {
      const answer = await org.post(
        `/v1/effects/${effectId}/commit`,
        { result: RESULT },
        { 'idempotency-key': key + effectId },
      );
      expect(answer.status, answer.text).toBe(200);
    }
    const key = { 'idempotency-key': randomUUID() };
    const [kept, replayed] = [await org.post(effects, call, key), await org.post(effects, call, key)];
    expect(bodyOf(kept)).toMatchObject({ decision: 'replay', result: RESULT });
    expect(replayed.text).toBe(kept.text);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    return effectId;
  }

  it('no argument, result, error, header or secret is in Postgres, Redis, logs or metrics, and the undo gets them all (C110)', async () => {
    const session = await org.open({ metadata: { seen: 'm3tadata' } });
    await bookWithCanaries(session, '/refuses');
    await bookWithCanaries(session, '/waits');
    const unknown = await session.bookUnreported('/unknown', { args: { ...ARGS, ref: 'unknown' } });
    await org.post(`/v1/effects/${unknown.effect_id}/fail`, { error: 'c4n4ry-error', outcome: 'unknown' });
    world.vendor.script('/waits', { status: 503, body: '{"detail":"c4n4ry-answer"}' });
    world.vendor.always('/refuses', { status: 400, body: '{"detail":"c4n4ry-answer"}' });
    await session.fail();

    // While a job waits in the queue, and when all is over.
    await vi.waitFor(() => expect(world.vendor.ledger.at('/waits')).toHaveLength(1), { timeout: 15_000 });
    const queued = await redisText(world);
    if (world.redisUrl !== undefined) expect(queued).toContain(session.id);
    await session.reaches('halted');

    const own = { all: ARGS, id: RESULT.booking_id, own: 'c4n4ry-undo' };
    for (const path of ['/waits', '/refuses']) {
      for (const call of world.vendor.ledger.at(path)) {
        expect(JSON.parse(call.body.toString())).toMatchObject(own);
        expect([call.headers['x-key'], call.headers['authorization']]).toEqual([
          'c4n4ry-header',
          'Bearer c4n4ry-secret',
        ]);
      }
    }
    const rows = await databaseText(world);
    const logs = [world.api, world.compensator].flatMap((one) => one.log).join('\n');
    const metrics = await Promise.all(
      [world.api, world.compensator].map(async (one) => (await fetch(`${one.healthUrl}/metrics`)).text()),
    );
    expect(found(rows, [session.id, Buffer.from('m3tadata').toString()])).toHaveLength(2);
    expect(logs).toContain(session.id);
    const places = { rows, queued, redis: await redisText(world), logs, metrics: metrics.join('\n') };
    for (const [place, text] of Object.entries(places)) expect([place, found(text, CANARIES)]).toEqual([place, []]);
  });

  it('who operates sees that there was a password, not which; dead letters and audit hold no arguments (C110)', async () => {
    const session = await org.open();
    await bookWithCanaries(session, '/refuses');
    world.vendor.always('/refuses', { status: 400 });
    await session.fail();
    await session.reaches('halted');
    const made = await org.post('/v1/keys', { role: 'operator' });
    const { api_key: apiKey } = bodyOf<{ api_key: string }>(made);
    const operator = world.orgAt(world.api, { orgId: org.orgId, apiKey });
    const [entry] = (await operator.get<{ data: object[] }>(`${session.path}/stack`)).data;
    expect(entry).toMatchObject({
      args: { all: { password: '[redacted]', note: ARGS.note } },
      effect: { args: { password: '[redacted]' }, result: RESULT },
    });
    for (const one of [org, operator]) {
      for (const path of ['/v1/dead-letters', '/v1/audit', '/v1/secrets', session.path]) {
        expect(found((await one.request('GET', path)).text, CANARIES), path).toEqual([]);
      }
    }
  });

  it('arguments that were moved from another org or changed are never sent: the session halts, unconfirmed', async () => {
    const other = await world.newOrg();
    const [mine, foreign] = [await org.booked(['/moved']), await other.booked(['/moved'])];
    await world.rows(
      `UPDATE undolog_undo_stack SET args = (SELECT args FROM undolog_undo_stack WHERE session_id = $2)
      WHERE session_id = $1`,
      mine.id,
      foreign.id,
    );
    await mine.fail();
    await mine.reaches('halted');
    expect(mine.undos()).toEqual([]);
    const shown = {
      state: 'unconfirmed',
      code: 'value_damaged',
      args: null,
      unreadable: 'value_damaged',
      attempts: [],
    };
    expect((await mine.stack())[0]).toMatchObject(shown);
    await foreign.fail();
    await foreign.reaches('compensated');
  });
});

describe('when the key changes', () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64'));
  const OLD = { UNDOLOG_ENCRYPTION_KEY: oldKey };
  const NEW = { UNDOLOG_ENCRYPTION_KEY: newKey };
  const BOTH = { ...NEW, UNDOLOG_ENCRYPTION_KEY_PREVIOUS: oldKey };
  let world: World;
  beforeAll(async () => {
    world = await prepareWorld({ name: 'rotation', compensators: 0, env: OLD });
    world.addCompensator(NEW);
    await world.start();
  });
  afterAll(() => world.close());

  it('an entry whose key is missing waits, uncalled and with a code, and goes on when a process has the key', async () => {
    const org = await world.newOrg();
    await org.request('PUT', '/v1/secrets/token', { value: 'Bearer kept' });
    const spec = { headers: { 'x-test-org': org.orgId, authorization: { secret: 'token' } } };
    const session = await org.booked(['/kept', '/kept'], { spec });
    const [top] = await session.stack();
    await session.fail();
    await vi.waitFor(async () => expect((await session.stack())[0]!.code).toBe('encryption_key_missing'), {
      timeout: 15_000,
    });
    expect((await session.view()).state).toBe('compensating');
    expect((await session.view()).retry_at).not.toBeNull();
    expect(session.undos()).toEqual([]);

    const lacking = world.orgAt(await world.addApi(NEW).start(), org);
    const { data } = await lacking.get<{ data: object[] }>(`${session.path}/stack`);
    const unreadable = { args: null, unreadable: 'encryption_key_missing', effect: { args: null, result: null } };
    expect(data).toMatchObject([unreadable, unreadable]);
    const report = (at: Org): ReturnType<Org['post']> =>
      at.post(`/v1/effects/${top!.effect_id}/commit`, { result: top!.effect.result });
    const refused = await report(lacking);
    expect([refused.status, bodyOf(refused)['code']]).toEqual([503, 'encryption_key_missing']);

    await world.compensator.stop();
    await world.addCompensator(BOTH).start();
    await session.reaches('compensated', 40_000);
    expect(await session.calledPositions()).toEqual([2, 1]);
    expect(await session.faults()).toEqual([]);
    expect(session.standing()).toEqual([]);
    for (const call of session.undos()) expect(call.headers['authorization']).toBe('Bearer kept');
    for (const entry of await session.stack()) expect(entry.attempts).toHaveLength(1);

    // Sessions of a time before the key, under the old one and under the new one, all at once.
    const clear = world.orgAt(await world.addApi({ UNDOLOG_ENCRYPTION_KEY: '' }).start(), org);
    const rotated = world.orgAt(await world.addApi(BOTH).start(), org);
    expect((await report(rotated)).status).toBe(200);
    for (const at of [clear, org, rotated]) {
      const one = await at.booked(['/any-key']);
      await one.fail();
      await one.reaches('compensated');
      expect(await one.faults()).toEqual([]);
      const { data: read } = await rotated.get<{ data: object[] }>(`${one.path}/stack`);
      expect(read).toMatchObject([{ unreadable: null, args: { ref: `${one.id}#1` } }]);
    }
  });
});
