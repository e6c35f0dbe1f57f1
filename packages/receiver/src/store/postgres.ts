/** What is asked of the vendor's database driver: the shapes of `pg`, and of whatever looks like it. */
export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PooledClient extends Queryable {
  release(broken?: Error): void;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  off?(event: 'error', listener: (error: Error) => void): unknown;
}

export interface ConnectionPool<Client extends PooledClient> extends Queryable {
  connect(): Promise<Client>;
}

export async function rowsOf<R>(db: Queryable, text: string, ...values: unknown[]): Promise<R[]> {
  return (await db.query(text, values)).rows as R[];
}

/** What a transaction ends with: its value, kept or thrown away together with all that was written. */
export interface TransactionEnd<T> {
  readonly commit: boolean;
  readonly value: T;
}

// A connection that breaks in use tells its query, and also emits an event that must find a listener.
const ignore = (): void => undefined;

/** Runs `work` in a transaction. If it throws, or asks for it, nothing of what was written remains. */
export async function inTransaction<Client extends PooledClient, T>(
  pool: ConnectionPool<Client>,
  work: (client: Client) => Promise<TransactionEnd<T>>,
): Promise<T> {
  const client = await pool.connect();
  client.on?.('error', ignore);
  let broken: Error | undefined;
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const { commit, value } = await work(client);
    await client.query(commit ? 'COMMIT' : 'ROLLBACK');
    return value;
  } catch (error) {
    await client.query('ROLLBACK').catch((fault: unknown) => (broken = fault as Error));
    throw error;
  } finally {
    client.off?.('error', ignore);
    client.release(broken);
  }
}
