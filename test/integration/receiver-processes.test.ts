import { freshDatabase, type FreshDatabase } from '@undolog/backends/fresh-database';
import { createTable } from '@undolog/receiver';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startReceiverVendor, type ReceiverVendor, type ReceiverVendorOptions } from '../support/receiver-vendor.js';
import { send, signedCall } from '../support/signed-call.js';

interface LedgerRow {
  readonly taken_over: boolean;
}

let database: FreshDatabase;
let pool: pg.Pool;
const vendors: ReceiverVendor[] = [];
beforeAll(async () => {
  database = await freshDatabase(process.env['DATABASE_URL']!, 'receiver_processes');
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => undefined);
  await pool.query(createTable);
  await pool.query('CREATE TABLE ledger (key text NOT NULL, taken_over boolean NOT NULL)');
});
afterEach(async () => {
  await Promise.all(vendors.splice(0).map((vendor) => vendor.kill()));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function start(options: Partial<ReceiverVendorOptions> = {}): Promise<ReceiverVendor> {
  const vendor = await startReceiverVendor({ databaseUrl: database.url, ...options });
  vendors.push(vendor);
  return vendor;
}

async function ledger(key: string): Promise<LedgerRow[]> {
  return (await pool.query<LedgerRow>('SELECT taken_over FROM ledger WHERE key = $1', [key])).rows;
}

describe('two processes of a vendor', () => {
  test.each(['/here', '/elsewhere'])('racing at %s on one key make one effect', async (path) => {
    const both = await Promise.all([start(), start()]);
    const call = signedCall();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => send(both[n % 2]!.url + path, call)));
    const first = answers.filter((answer) => answer.status === 200 && !answer.headers.has('idempotent-replayed'));
    expect(first).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 409) expect(answer.headers.get('retry-after')).toBe('1');
      else expect([answer.status, await answer.json()]).toEqual([200, { cancelled: true }]);
    }
    expect(await ledger(call.headers['idempotency-key']!)).toEqual([{ taken_over: false }]);
  });
});

describe('a vendor killed in its handler', () => {
  test('inTransaction: the effect is gone with its process, and the next try makes the only one', async () => {
    const [dying, call] = [await start({ hold: true }), signedCall()];
    const key = call.headers['idempotency-key']!;
    const cut = send(`${dying.url}/here`, call).catch(() => undefined);
    await dying.effects(1);
    const next = await start();
    expect((await send(`${next.url}/here`, call)).status).toBe(409);
    await dying.kill();
    expect(await cut).toBeUndefined();
    await expect.poll(async () => (await send(`${next.url}/here`, call)).status, { timeout: 10_000 }).toBe(200);
    expect(await ledger(key)).toEqual([{ taken_over: false }]);
    expect((await send(`${next.url}/here`, call)).headers.get('idempotent-replayed')).toBe('true');
  });

  test('atLeastOnce: the key is taken over when its lease ends, not before, by a handler that is told so', async () => {
    const [dying, call] = [await start({ hold: true }), signedCall()];
    const key = call.headers['idempotency-key']!;
    const cut = send(`${dying.url}/elsewhere`, call).catch(() => undefined);
    await dying.effects(1);
    const next = await start();
    await dying.kill();
    expect(await cut).toBeUndefined();
    // Its lease is the database's business, so the test ends it there instead of waiting for it.
    const lease = (ms: number) =>
      pool.query(
        `UPDATE undolog_receiver_calls SET lease_expires_at = clock_timestamp() + $2 * interval '1 ms' WHERE key = $1`,
        [key, ms],
      );
    await lease(60_000);
    expect((await send(`${next.url}/elsewhere`, call)).status).toBe(409);
    await lease(0);
    expect((await send(`${next.url}/elsewhere`, call)).status).toBe(200);
    expect(await ledger(key)).toEqual([{ taken_over: false }, { taken_over: true }]);
  });
});
