import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from './sql.js';

const ENTRIES_PER_SESSION = 20;

/** An id like those that time makes: in the order of the rows, and all of them older than the run's own. */
function idAt(row: string, kind: string): string {
  const time = `lpad(to_hex(1700000000000 + ${row}), 12, '0')`;
  return `(${time} || '7000' || '8' || left(md5('${kind}' || ${row}), 15))::uuid`;
}

const ROWS = 'generate_series(0, $2::bigint - 1) AS g (n)';
const SESSION = `'settled-' || n / ${ENTRIES_PER_SESSION}`;
const POSITION = `(n % ${ENTRIES_PER_SESSION} + 1)::int`;
const WHEN = `now() - interval '1 day'`;

const FILL = [
  `INSERT INTO undolog_sessions (org_id, session_id, state, on_compensation_failure, body_hash, lease_seconds,
     max_age_seconds, failure_reason, failure_kind, failed_at, created_at, updated_at)
   SELECT $1, 'settled-' || n, 'compensated', 'halt', '\\x00', 900, 0, '"settled"', 'reported', ${WHEN}, ${WHEN}, ${WHEN}
   FROM generate_series(0, ($2::bigint - 1) / ${ENTRIES_PER_SESSION}) AS g (n)`,
  `INSERT INTO undolog_undo_stack (org_id, undo_id, session_id, effect_id, stack_position, state, fn_name, version, args,
     max_retries, fence, attempts, round_attempts, proof, registered_at, compensated_at)
   SELECT $1, ${idAt('n', 'undo')}, ${SESSION}, ${idAt('n', 'effect')}, ${POSITION}, 'compensated', 'cancel_flight', '1',
     convert_to('{"trip":"settled-' || n || '"}', 'UTF8'), 3, 1, 1, 1, 'answered', ${WHEN}, ${WHEN}
   FROM ${ROWS}`,
  `INSERT INTO undolog_effect_log (org_id, effect_id, session_id, undo_id, stack_position, tool_name, effect_class, state,
     args, result, registered_at, executed_at, committed_at)
   SELECT $1, ${idAt('n', 'effect')}, ${SESSION}, ${idAt('n', 'undo')}, ${POSITION}, 'book_flight', 'compensable',
     'compensated', convert_to('{"trip":"settled-' || n || '"}', 'UTF8'), convert_to('{"id":"flight-' || n || '"}', 'UTF8'),
     ${WHEN}, ${WHEN} + interval '1 ms', ${WHEN} + interval '2 ms'
   FROM ${ROWS}`,
  `INSERT INTO undolog_attempts (org_id, undo_id, attempt, at, status, outcome, duration_ms)
   SELECT $1, ${idAt('n', 'undo')}, 1, ${WHEN}, 200, 'done', 1 FROM ${ROWS}`,
];

const TABLES = ['undolog_sessions', 'undolog_undo_stack', 'undolog_effect_log', 'undolog_attempts'];

/**
 * Fills the tables with `rows` undo entries that were settled long ago, and what belongs to them: twenty to a session,
 * each with its effect and one attempt. All in one org, the same as the run's, where they are in the way the most.
 */
export async function fillSettledRows(sql: Sql, orgId: string, rows: number): Promise<void> {
  const [account] = await sql<{ rolsuper: boolean }>('SELECT rolsuper FROM pg_roles WHERE rolname = current_user');
  // Foreign keys, checked row by row, are most of the time; these rows are right by the way they are made.
  if (account?.rolsuper) await sql(`SET session_replication_role = 'replica'`);
  for (const statement of FILL) await sql(statement, [orgId, rows]);
  await sql('RESET session_replication_role');
  // What the server would do later by itself must not happen while the run is measured.
  await sql(`VACUUM (ANALYZE) ${TABLES.join(', ')}`);
  if (account?.rolsuper) await sql('CHECKPOINT');
  await untilCommitsAreQuick(sql);
}

const QUICK_MS = 25;
const QUICK_COMMITS = 20;
const MAX_PROBES = 600;

/** A disk that still writes out the bulk makes every commit wait; the run begins when twenty in a row did not. */
async function untilCommitsAreQuick(sql: Sql): Promise<void> {
  await sql('CREATE TABLE bench_probe (n integer)');
  for (let probes = 0, quick = 0; quick < QUICK_COMMITS && probes < MAX_PROBES; probes += 1) {
    const startedMs = performance.now();
    await sql('INSERT INTO bench_probe VALUES ($1)', [probes]);
    quick = performance.now() - startedMs < QUICK_MS ? quick + 1 : 0;
    await sleep(50);
  }
  await sql('DROP TABLE bench_probe');
}
