import { randomUUID } from 'node:crypto';
import { freshDatabase, type FreshDatabase } from '@undolog/backends/fresh-database';
import { createReceiver, createTable, type Receiver } from '@undolog/receiver';
import { toFetch } from '@undolog/receiver/fetch';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedCall, SIGNING_SECRET } from '../support/signed-call.js';

let database: FreshDatabase;
let pool: pg.Pool;
let receiver: Receiver<pg.PoolClient>;
beforeAll(async () => {
  database = await freshDatabase(process.env['DATABASE_URL']!, 'receiver_forwards');
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => undefined);
  await pool.query(createTable);
  await pool.query('CREATE TABLE bookings (effect_key text PRIMARY KEY, state text NOT NULL)');
  receiver = createReceiver({ pool, secrets: [SIGNING_SECRET] });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('the order of a booking and its undo', () => {
  /** UndoLog's call to the vendor's undo of bookings. */
  async function cancel(effectKey: string): Promise<unknown> {
    const route = receiver.inTransaction(async (call, tx) => {
      if ((await receiver.cancelForward(tx, call.effectKey)) === 'absent') return { body: { cancelled: false } };
      await tx.query(`UPDATE bookings SET state = 'cancelled' WHERE effect_key = $1`, [call.effectKey]);
      return { body: { cancelled: true } };
    });
    const request = new Request('http://vendor/cancel', { method: 'POST', ...signedCall({ effectKey }) });
    return (await toFetch(route)(request)).json();
  }

  /** The vendor's own booking route, in one transaction. */
  async function book(effectKey: string, within?: () => Promise<void>): Promise<string> {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const seen = await receiver.recordForward(client, effectKey);
      if (seen === 'first') await client.query(`INSERT INTO bookings VALUES ($1, 'booked')`, [effectKey]);
      await within?.();
      await client.query('COMMIT');
      return seen;
    } finally {
      client.release();
    }
  }

  async function bookingOf(effectKey: string): Promise<string | undefined> {
    const sql = 'SELECT state FROM bookings WHERE effect_key = $1';
    return (await pool.query<{ state: string }>(sql, [effectKey])).rows[0]?.state;
  }

  test('booked, then cancelled: undone, and a repeat of the booking does not book again', async () => {
    const effectKey = `effect-${randomUUID()}`;
    expect([await book(effectKey), await book(effectKey)]).toEqual(['first', 'repeat']);
    expect(await cancel(effectKey)).toEqual({ cancelled: true });
    expect(await book(effectKey)).toBe('cancelled');
    expect(await bookingOf(effectKey)).toBe('cancelled');
  });

  test('cancelled before it was booked: nothing to undo, and the booking that arrives later is refused', async () => {
    const effectKey = `effect-${randomUUID()}`;
    expect(await cancel(effectKey)).toEqual({ cancelled: false });
    expect(await book(effectKey)).toBe('cancelled');
    expect(await bookingOf(effectKey)).toBeUndefined();
  });

  test('at the same time: the undo waits for the booking that is under way, and finds it', async () => {
    const effectKey = `effect-${randomUUID()}`;
    let cancelled: Promise<unknown> | undefined;
    await book(effectKey, async () => {
      cancelled = cancel(effectKey);
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await expect.poll(async () => (await pool.query(waiting)).rowCount, { timeout: 5000 }).toBe(1);
    });
    expect(await cancelled).toEqual({ cancelled: true });
    expect(await bookingOf(effectKey)).toBe('cancelled');
  });
});
