import { randomBytes } from 'node:crypto';
import { freshDatabase, type FreshDatabase } from '@undolog/backends/fresh-database';
import { createTable } from '@undolog/receiver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { sql } from '../support/look-at-backends.js';
import { startReceiverVendor, type ReceiverVendor } from '../support/receiver-vendor.js';
import { SIGNING_SECRET } from '../support/signed-call.js';
import { openWorld, type World } from '../support/world.js';

describe('a vendor behind @undolog/receiver', () => {
  let world: World;
  let org: Org;
  let books: FreshDatabase;
  const vendors: ReceiverVendor[] = [];
  beforeAll(async () => {
    world = await openWorld({ name: 'receiver' });
    org = await world.newOrg();
    expect((await org.request('PUT', '/v1/signing-secret', { secret: SIGNING_SECRET })).status).toBe(204);
    books = await freshDatabase(process.env['DATABASE_URL']!, 'e2e_receiver_books');
    await sql(books.url, createTable);
    await sql(books.url, 'CREATE TABLE ledger (key text NOT NULL, taken_over boolean NOT NULL)');
  });
  afterAll(async () => {
    await Promise.all(vendors.map((vendor) => vendor.kill()));
    await world.close();
    await books.drop();
  });

  async function startVendor(options: { hold?: boolean; secret?: string } = {}): Promise<ReceiverVendor> {
    const vendor = await startReceiverVendor({ databaseUrl: books.url, ...options });
    vendors.push(vendor);
    return vendor;
  }

  const behind = ({ url }: ReceiverVendor) => ({
    spec: { url: `${url}/here`, outcomes: { retry: [409] }, retry: { max_retries: 20 } },
  });

  it('is called with a good signature, and makes one effect though the compensator dies in the call', async () => {
    const vendor = await startVendor({ hold: true });
    const session = await org.booked(['/behind'], behind(vendor));
    await session.fail();
    await vendor.effects(1);
    await world.compensator.kill();
    await world.compensator.start();
    const tries = async (): Promise<unknown[]> => (await session.stack())[0]!.attempts.map((one) => one.status);
    await expect.poll(tries, { timeout: 20_000 }).toContain(409);
    vendor.release();
    await session.reaches('compensated');
    const [entry] = await session.stack();
    expect(entry!.attempts.at(0)).toMatchObject({ outcome: 'unknown', status: null });
    expect(entry!.attempts.at(-1)).toMatchObject({ outcome: 'done', status: 200 });
    const ledger = await sql(books.url, `SELECT key, taken_over FROM ledger`);
    expect(ledger).toEqual([{ key: `undo-${entry!.undo_id}`, taken_over: false }]);
  });

  it('that knows another secret makes no effect', async () => {
    const vendor = await startVendor({ secret: `whsec_${randomBytes(32).toString('base64')}` });
    const session = await org.booked(['/behind-another'], behind(vendor));
    await session.fail();
    await session.reaches('halted');
    const [entry] = await session.stack();
    expect(entry).toMatchObject({ state: 'failed', code: 'http_401' });
    expect(await sql(books.url, `SELECT 1 FROM ledger WHERE key = 'undo-${entry!.undo_id}'`)).toEqual([]);
  });
});
