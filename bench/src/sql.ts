import pg from 'pg';
import type { Workplace } from './workplace.js';

export type Sql = <R extends object>(text: string, values?: readonly unknown[]) => Promise<R[]>;

/** One connection to the product's tables, to fill them in bulk and to count what they hold. */
export async function openSql(workplace: Workplace, url: string): Promise<Sql> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', (error) => workplace.log(`Postgres: ${error.message}`));
  await client.connect();
  workplace.onLeave(() => client.end());
  return async <R extends object>(text: string, values: readonly unknown[] = []) =>
    (await client.query<R>(text, [...values])).rows;
}

/** How many of the sessions whose id starts with the prefix UndoLog itself calls undone. */
export async function countCompensated(sql: Sql, orgId: string, prefix: string): Promise<number> {
  const [row] = await sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM undolog_sessions
     WHERE org_id = $1 AND starts_with(session_id, $2) AND state = 'compensated'`,
    [orgId, prefix],
  );
  return row!.count;
}
