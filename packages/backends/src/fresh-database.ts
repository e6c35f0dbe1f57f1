import { randomBytes } from 'node:crypto';
import pg from 'pg';

const CONNECT_LIMIT_MS = 5_000;
const QUERY_LIMIT_MS = 30_000;

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: QUERY_LIMIT_MS,
  });
  // A connection lost between two queries would otherwise end the process; the next query reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Resolves to the server's version once it answers a query; rejects with the reason otherwise. */
export function postgresAnswers(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? 'unknown';
  });
}

/** Empty, and nobody is ever connected to it. */
const EMPTY = 'template0';

/** Creates a database of exactly this name, as a copy of one to which nobody is connected. */
export async function createDatabase(serverUrl: string, name: string, template = EMPTY): Promise<void> {
  const [made, like] = [name, template].map((one) => pg.escapeIdentifier(one));
  await withClient(serverUrl, (client) => client.query(`CREATE DATABASE ${made} TEMPLATE ${like}`));
}

export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>;
}

/**
 * Creates a database beside the one that the URL names, for a test file of its own: empty, or a copy of `template`. Its
 * name is `name` and a random ending, so that parallel runs on one server don't meet. The account of the URL must be
 * allowed to do so.
 */
export async function freshDatabase(serverUrl: string, name: string, template = EMPTY): Promise<FreshDatabase> {
  if (!/^[a-z][a-z0-9_]{0,49}$/.test(name)) throw new Error(`not a plain database name: ${name}`);
  const full = `${name}_${randomBytes(4).toString('hex')}`;
  await createDatabase(serverUrl, full, template);
  const url = new URL(serverUrl);
  url.pathname = `/${full}`;
  return {
    url: url.href,
    name: full,
    async drop() {
      const statement = `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(full)} WITH (FORCE)`;
      await withClient(serverUrl, (client) => client.query(statement));
    },
  };
}
