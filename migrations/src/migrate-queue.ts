import { runMigrations } from 'bullmq';
import pg from 'pg';
import { QUEUE_SCHEMA } from '@undolog/shared/queue/names';

/** The tables of BullMQ's Postgres backend, for an installation without Redis; several at once take turns. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await runMigrations(client as unknown as Parameters<typeof runMigrations>[0], QUEUE_SCHEMA);
  } finally {
    await client.end();
  }
}
