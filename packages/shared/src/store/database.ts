import pg from 'pg';
import { reachUnarmed, type Reach } from '../domain/failpoints.js';
import { UnreadableValue, type Vault } from '../domain/vault.js';
import { columnTypes } from './column-types.js';

/** A statement with its values. Named ones are prepared once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** A transaction in which a caller talks to Postgres step by step. */
export interface Tx {
  /** Seals what this database keeps of arguments and results. */
  readonly vault: Vault;
  query<R extends object>(statement: Statement): Promise<R[]>;
}

export type Conclude = (rows: object[][]) => Promise<readonly Statement[] | undefined>;

export interface Database extends Tx {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs the statements as one transaction that leaves in a single flight; answers the rows of each. */
  flight(statements: readonly Statement[]): Promise<object[][]>;
  /**
   * The same in two flights: `conclude` sees the rows before the COMMIT and says what is to be written beside. If it
   * says nothing, all of it is rolled back, and the answer is undefined.
   */
  flightInTwo(statements: readonly Statement[], conclude: Conclude): Promise<object[][] | undefined>;
  close(): Promise<void>;
}

/**
 * Postgres did not answer: connection lost, COMMIT without answer, time-out, or no free connection in time.
 * What was asked may or may not have happened.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

export interface DatabaseOptions {
  readonly url: string;
  readonly vault: Vault;
  readonly maxConnections: number;
  /** How long to wait for a connection, and then for each answer. */
  readonly connectTimeoutMs: number;
  readonly queryTimeoutMs: number;
  readonly onError: (error: Error) => void;
  readonly reach?: Reach;
}

// Every statement has an index for its way in, and a plan that is made once must be one of look-ups by index, an outer
// row at a time, in the order in which the joins are written: that order starts at the few rows that were asked for.
const SESSION_SETTINGS = [
  'TimeZone=UTC',
  'jit=off',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_bitmapscan=off',
  'enable_material=off',
  'join_collapse_limit=1',
  'from_collapse_limit=1',
  'plan_cache_mode=force_generic_plan',
];

/** A fault that a new try of the whole transaction can cure. */
const CONFLICTS = new Set(['40001', '40P01']);
const MAX_CONFLICT_TRIES = 4;

/** Errors of the server while it starts, stops, is full or read-only; the rest of its errors are ours. */
const UNAVAILABLE = /^(08|53|57|58|25006|XX)/;

function sqlState(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** An error without SQLSTATE comes from the socket, the pool or a time-out: nobody knows what Postgres did. */
function asUnavailable(error: unknown): unknown {
  // Postgres answered; what it holds can't be opened.
  if (error instanceof UnreadableValue) return error;
  const state = sqlState(error);
  if (state !== undefined && !UNAVAILABLE.test(state)) return error;
  return error instanceof DatabaseUnavailable
    ? error
    : new DatabaseUnavailable('Postgres did not answer', { cause: error });
}

/** Postgres answers COMMIT with ROLLBACK when the transaction had failed; that must never look like success. */
function assertCommitted(result: pg.QueryResult): void {
  if (result.command !== 'COMMIT') throw new DatabaseUnavailable(`COMMIT ended as ${result.command}`);
}

function run(client: pg.PoolClient | pg.Pool, statement: Statement): Promise<pg.QueryResult> {
  const { name, text, values } = statement;
  return client.query({ name, text, values: values as unknown[] | undefined } as pg.QueryConfig);
}

/** The driver's socket; its type is not part of the driver's declarations. */
interface WithSocket {
  readonly connection: { readonly stream: { cork(): void; uncork(): void } };
}

/** Everything that `send` writes to the connection leaves in one packet instead of one per message. */
function inOnePacket<T>(client: pg.PoolClient, send: () => T): T {
  const { stream } = (client as unknown as WithSocket).connection;
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

const FIRST_RENEWAL = 4;
const RENEWAL_FACTOR = 4;

/**
 * On tables that are almost empty all indexes look alike, and a plan made then may enter one by the org alone. So a
 * connection makes its plans anew after 4 uses, 16, 64 and so on, until the tables have shown what they are.
 */
class PlanAges {
  readonly #ages = new WeakMap<pg.PoolClient, { uses: number; dueAt: number }>();

  isDue(client: pg.PoolClient): boolean {
    const age = this.#ages.get(client) ?? { uses: 0, dueAt: FIRST_RENEWAL };
    this.#ages.set(client, age);
    age.uses += 1;
    if (age.uses < age.dueAt) return false;
    age.dueAt *= RENEWAL_FACTOR;
    return true;
  }
}

/** @returns the error of a connection that can't be used any more; what was done before stays done. */
async function discardPlans(client: pg.PoolClient): Promise<Error | undefined> {
  return client.query('DISCARD PLANS').then(
    () => undefined,
    (error: Error) => error,
  );
}

/** The answers, in order. @throws the first error among them, once all have come in. */
async function allOf(sent: readonly Promise<pg.QueryResult>[]): Promise<pg.QueryResult[]> {
  const settled = await Promise.allSettled(sent);
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason as Error;
  return settled.map((one) => (one as PromiseFulfilledResult<pg.QueryResult>).value);
}

const rowsOf = (result: pg.QueryResult): object[] => result.rows as object[];

async function inOneFlight(client: pg.PoolClient, statements: readonly Statement[], reach: Reach): Promise<object[][]> {
  reach('before_commit');
  const sent = inOnePacket(client, () => [
    client.query('BEGIN'),
    ...statements.map((statement) => run(client, statement)),
    client.query('COMMIT'),
  ]);
  const results = await allOf(sent);
  assertCommitted(results.at(-1)!);
  reach('after_commit');
  return results.slice(1, -1).map(rowsOf);
}

async function inTwoFlights(
  client: pg.PoolClient,
  statements: readonly Statement[],
  conclude: Conclude,
  reach: Reach,
): Promise<object[][] | undefined> {
  try {
    const sent = inOnePacket(client, () => [
      client.query('BEGIN'),
      ...statements.map((statement) => run(client, statement)),
    ]);
    const rows = (await allOf(sent)).slice(1).map(rowsOf);
    const last = await conclude(rows);
    if (!last) {
      await client.query('ROLLBACK');
      return undefined;
    }
    reach('before_commit');
    const ended = inOnePacket(client, () => [
      ...last.map((statement) => run(client, statement)),
      client.query('COMMIT'),
    ]);
    assertCommitted((await allOf(ended)).at(-1)!);
    reach('after_commit');
    return rows;
  } catch (error) {
    const seen = asUnavailable(error);
    if (!(seen instanceof DatabaseUnavailable)) await client.query('ROLLBACK');
    throw seen;
  }
}

async function stepByStep<T>(
  client: pg.PoolClient,
  vault: Vault,
  work: (tx: Tx) => Promise<T>,
  reach: Reach,
): Promise<T> {
  await client.query('BEGIN');
  try {
    const value = await work({
      vault,
      async query<R extends object>(statement: Statement) {
        try {
          return (await run(client, statement)).rows as R[];
        } catch (error) {
          throw asUnavailable(error);
        }
      },
    });
    reach('before_commit');
    assertCommitted(await client.query('COMMIT'));
    reach('after_commit');
    return value;
  } catch (error) {
    // A connection that has gone silent would keep a ROLLBACK waiting; it is thrown away instead.
    if (!(error instanceof DatabaseUnavailable)) await client.query('ROLLBACK');
    throw error;
  }
}

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs,
    query_timeout: options.queryTimeoutMs,
    statement_timeout: options.queryTimeoutMs,
    keepAlive: true,
    pipeline: true,
    types: columnTypes,
    options: SESSION_SETTINGS.map((setting) => `-c ${setting}`).join(' '),
  } as pg.PoolConfig);
  pool.on('error', options.onError);
  const plans = new PlanAges();
  // The pool listens to idle connections only. One that breaks in use is told of by its query; its event must find a
  // listener all the same, or it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      let client: pg.PoolClient | undefined;
      let broken: Error | undefined;
      try {
        client = await pool.connect();
        const result = await work(client);
        if (plans.isDue(client)) broken = await discardPlans(client);
        return result;
      } catch (error) {
        if (CONFLICTS.has(sqlState(error) ?? '') && tries < MAX_CONFLICT_TRIES) continue;
        const seen = asUnavailable(error);
        if (seen instanceof DatabaseUnavailable) broken = seen;
        throw seen;
      } finally {
        client?.release(broken);
      }
    }
  }

  const { vault, reach = reachUnarmed } = options;
  return {
    vault,
    query: <R extends object>(statement: Statement) =>
      withClient(async (client) => (await run(client, statement)).rows as R[]),
    transaction: (work) => withClient((client) => stepByStep(client, vault, work, reach)),
    flight: (statements) => withClient((client) => inOneFlight(client, statements, reach)),
    flightInTwo: (statements, conclude) => withClient((client) => inTwoFlights(client, statements, conclude, reach)),
    close: () => pool.end(),
  };
}
