import type { Tx } from './database.js';

/** The schema version that this code was written for; a test compares it with the newest migration. */
export const REQUIRED_SCHEMA = '0001-initial-schema';

/** @returns false on a database that was never migrated, or not far enough. */
export async function schemaIsCurrent(tx: Tx): Promise<boolean> {
  const [table] = await tx.query<{ known: boolean }>({
    text: `SELECT to_regclass('undolog_migrations') IS NOT NULL AS known`,
  });
  if (!table?.known) return false;
  const rows = await tx.query({
    text: 'SELECT 1 FROM undolog_migrations WHERE name = $1',
    values: [REQUIRED_SCHEMA],
  });
  return rows.length > 0;
}
