/**
 * A vendor behind `@undolog/receiver`, as a process that a test may kill: Express, a pool of its own, and a ledger table
 * in the database that it is given.
 *
 * `POST /here` writes its ledger in the receiver's transaction, `POST /elsewhere` outside of any. With `HOLD` set, a
 * handler stops after its effect and goes on when a line comes in. Says `listening <port>`, then `effect` at each.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createReceiver, type Queryable, type UndoCall } from '@undolog/receiver';
import { toExpress } from '@undolog/receiver/express';
import express from 'express';
import pg from 'pg';

const { DATABASE_URL, SECRET, HOLD } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
pool.on('error', () => undefined);
const receiver = createReceiver({ pool, secrets: [SECRET!], leaseSeconds: 2 });

async function cancel(call: UndoCall, db: Queryable): Promise<{ body: object }> {
  await db.query('INSERT INTO ledger (key, taken_over) VALUES ($1, $2)', [call.key, call.takenOver]);
  console.log('effect');
  if (HOLD) await once(process.stdin, 'data');
  return { body: { cancelled: true } };
}

const app = express();
app.post('/here', toExpress(receiver.inTransaction(cancel)));
app.post('/elsewhere', toExpress(receiver.atLeastOnce((call) => cancel(call, pool))));
const server = app.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
