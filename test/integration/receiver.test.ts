import { freshDatabase, type FreshDatabase } from '@undolog/backends/fresh-database';
import { createReceiver, createTable, type HandlerAnswer, type Receiver, type UndoCall } from '@undolog/receiver';
import { toFetch } from '@undolog/receiver/fetch';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { signedCall, SIGNING_SECRET, type SignedCall } from '../support/signed-call.js';

let database: FreshDatabase;
let pool: pg.Pool;
let receiver: Receiver<pg.PoolClient>;
let errors: unknown[] = [];
beforeAll(async () => {
  database = await freshDatabase(process.env['DATABASE_URL']!, 'receiver');
  pool = new pg.Pool({ connectionString: database.url, max: 8 });
  pool.on('error', () => undefined);
  await pool.query(createTable);
  await pool.query(createTable);
  await pool.query('CREATE TABLE effects (key text NOT NULL)');
  receiver = createReceiver({ pool, secrets: [SIGNING_SECRET], onError: (error) => errors.push(error) });
});
beforeEach(() => void (errors = []));
afterAll(async () => {
  await pool.end();
  await database.drop();
});

type Answering = Promise<HandlerAnswer | void>;

/** Both kinds of route, over one handler that makes its effect and then does as it is told. */
const KINDS = {
  inTransaction: (then: (call: UndoCall) => Answering) =>
    toFetch(
      receiver.inTransaction(async (call, tx) => {
        await tx.query('INSERT INTO effects VALUES ($1)', [call.key]);
        return then(call);
      }),
    ),
  atLeastOnce: (then: (call: UndoCall) => Answering) =>
    toFetch(
      receiver.atLeastOnce(async (call) => {
        await pool.query('INSERT INTO effects VALUES ($1)', [call.key]);
        return then(call);
      }),
    ),
};
const EACH_KIND = Object.entries(KINDS).map(([kind, route]) => ({ kind, route }));

function post(handle: (request: Request) => Promise<Response>, call: SignedCall): Promise<Response> {
  return handle(new Request('http://vendor/cancel', { method: 'POST', ...call }));
}

async function effectsOf(call: SignedCall): Promise<number> {
  const rows = await pool.query('SELECT 1 FROM effects WHERE key = $1', [call.headers['idempotency-key']]);
  return rows.rowCount ?? 0;
}

async function keptOf(call: SignedCall): Promise<unknown[]> {
  const sql = 'SELECT state, status FROM undolog_receiver_calls WHERE key = $1';
  return (await pool.query<object>(sql, [call.headers['idempotency-key']])).rows;
}

describe.each(EACH_KIND)('$kind', ({ route, kind }) => {
  test('gives its handler the call, and a repeat the answer of the first', async () => {
    const calls: UndoCall[] = [];
    const handle = route((call) => {
      calls.push(call);
      return Promise.resolve({ status: 201, body: { text: '\u0000 ä' } });
    });
    const call = signedCall({ key: 'undo-1', effectKey: 'effect-1', body: '{"big":9007199254740993}' });
    const answers = [await post(handle, call), await post(handle, call)];
    for (const answer of answers) expect([answer.status, await answer.json()]).toEqual([201, { text: '\u0000 ä' }]);
    expect(answers.map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      key: 'undo-1',
      effectKey: 'effect-1',
      effectId: '1',
      sessionId: 'a session',
      effectOutcome: 'committed',
      attempt: 1,
      text: '{"big":9007199254740993}',
      takenOver: false,
    });
    await pool.query('DELETE FROM undolog_receiver_calls');
  });

  test('refuses another body under the same key, without an effect', async () => {
    const handle = route(() => Promise.resolve());
    const call = signedCall();
    expect((await post(handle, call)).status).toBe(200);
    const other = await post(handle, signedCall({ key: call.headers['idempotency-key']!, body: { booking_id: 'b2' } }));
    expect(other.status).toBe(422);
    expect(await effectsOf(call)).toBe(1);
  });

  test('keeps a refusal, as the next try would be refused too', async () => {
    const handle = route(() => Promise.resolve({ status: 404, body: { error: 'no such booking' } }));
    const call = signedCall();
    expect((await post(handle, call)).status).toBe(404);
    const again = await post(handle, call);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, 'true']);
    expect(await effectsOf(call)).toBe(1);
  });

  test.each([500, 503, 408, 409, 425, 429])('never keeps a %i: the next try really runs', async (status) => {
    const answers = [{ status }, { status: 200 }];
    const handle = route(() => Promise.resolve(answers.shift()));
    const call = signedCall();
    expect((await post(handle, call)).status).toBe(status);
    expect(await keptOf(call)).toEqual([]);
    const again = await post(handle, call);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect(await effectsOf(call)).toBe(kind === 'inTransaction' ? 1 : 2);
  });

  test('answers 500 when its handler throws, tells only the vendor why, and leaves the key absent', async () => {
    let throws = true;
    const handle = route(() => {
      if (throws) return Promise.reject(new Error('card 4242 is broken'));
      return Promise.resolve();
    });
    const call = signedCall();
    const answer = await post(handle, call);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('4242');
    expect(errors).toEqual([new Error('card 4242 is broken')]);
    expect(await keptOf(call)).toEqual([]);
    throws = false;
    expect((await post(handle, call)).status).toBe(200);
    expect(await effectsOf(call)).toBe(kind === 'inTransaction' ? 1 : 2);
  });

  test('tells a duplicate at once that the first is in progress, and when to come back', async () => {
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => (finish = resolve));
    let entered = (): void => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const handle = route(async () => {
      entered();
      await gate;
    });
    const call = signedCall();
    const first = post(handle, call);
    await inside;
    const duplicate = await post(handle, call);
    expect([duplicate.status, duplicate.headers.get('retry-after')]).toEqual([409, '5']);
    finish();
    expect((await first).status).toBe(200);
    expect((await post(handle, call)).headers.get('idempotent-replayed')).toBe('true');
    expect(await effectsOf(call)).toBe(1);
  });
});

test('keeps apart the keys of two scopes', async () => {
  const call = signedCall();
  const counts = { a: 0, b: 0 };
  for (const scope of ['a', 'b', 'a'] as const) {
    const scoped = createReceiver({ pool, secrets: [SIGNING_SECRET], scope });
    const answer = await post(toFetch(scoped.inTransaction(async () => void counts[scope]++)), call);
    expect(answer.status).toBe(200);
  }
  expect(counts).toEqual({ a: 1, b: 1 });
});

describe('inTransaction', () => {
  test('survives a connection that the server ends under its handler: nothing is kept, and the next try runs', async () => {
    const handle = toFetch(
      receiver.inTransaction(async (call, tx) => {
        await tx.query('INSERT INTO effects VALUES ($1)', [call.key]);
        const [self] = (await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
        if ((await effectsOf({ body: '', headers: { 'idempotency-key': `${call.key} cut` } })) > 0) return;
        await pool.query('INSERT INTO effects VALUES ($1)', [`${call.key} cut`]);
        await pool.query('SELECT pg_terminate_backend($1)', [self!.pid]);
        await tx.query('SELECT 1');
      }),
    );
    const call = signedCall();
    expect((await post(handle, call)).status).toBe(500);
    expect([await effectsOf(call), await keptOf(call)]).toEqual([0, []]);
    expect((await post(handle, call)).status).toBe(200);
    expect(await effectsOf(call)).toBe(1);
  });

  test('keeps nothing when its handler swallowed an error of its SQL', async () => {
    const handle = KINDS.inTransaction(() => Promise.resolve());
    const swallowing = toFetch(
      receiver.inTransaction(async (_call, tx) => {
        await tx.query('SELECT * FROM no_such_table').catch(() => undefined);
      }),
    );
    const call = signedCall();
    expect((await post(swallowing, call)).status).toBe(503);
    expect(await keptOf(call)).toEqual([]);
    expect((await post(handle, call)).status).toBe(200);
  });
});

describe('atLeastOnce', () => {
  const endLease = (call: SignedCall) =>
    pool.query('UPDATE undolog_receiver_calls SET lease_expires_at = clock_timestamp() WHERE key = $1', [
      call.headers['idempotency-key'],
    ]);

  test('renews the lease of a handler that lives longer than it', async () => {
    const brief = createReceiver({ pool, secrets: [SIGNING_SECRET], leaseSeconds: 0.3 });
    const call = signedCall();
    const leaseOf = async (): Promise<Date> => {
      const sql = 'SELECT lease_expires_at AS at FROM undolog_receiver_calls WHERE key = $1';
      return (await pool.query<{ at: Date }>(sql, [call.headers['idempotency-key']])).rows[0]!.at;
    };
    const handle = toFetch(
      brief.atLeastOnce(async () => {
        const first = await leaseOf();
        await expect.poll(async () => (await leaseOf()) > first, { timeout: 5000 }).toBe(true);
      }),
    );
    expect((await post(handle, call)).status).toBe(200);
  });

  test('a handler that lost its key does not complete it, nor release it', async () => {
    let finish = (_answer: HandlerAnswer): void => undefined;
    let entered = (): void => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const slow = KINDS.atLeastOnce(
      () =>
        new Promise((resolve) => {
          finish = resolve;
          entered();
        }),
    );
    const call = signedCall();
    const lost = post(slow, call);
    await inside;
    await endLease(call);
    const takes = KINDS.atLeastOnce((taken) => Promise.resolve({ body: { taken_over: taken.takenOver } }));
    expect(await (await post(takes, call)).json()).toEqual({ taken_over: true });
    finish({ status: 200, body: { late: true } });
    expect((await lost).status).toBe(409);
    expect(await (await post(takes, call)).json()).toEqual({ taken_over: true });
  });
});
