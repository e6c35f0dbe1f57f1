import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { foldersWith } from '@undolog/backends/find-programs';
import type { Sql } from './sql.js';
import type { Workplace } from './workplace.js';

const USUAL_PLACES = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/opt/homebrew/opt/postgresql@*/bin'];

/**
 * The two inserts of a registration, with the same columns and the same kind of values as register-effect.ts, and
 * nothing else: no lock of the session, no look at the registry, no search for the next position.
 */
function scriptFor(orgId: string): string {
  const [undoId, effectId] = ['undo', 'effect'].map(
    (kind) => `md5('${kind}' || :client_id::text || '-' || :n::text)::uuid`,
  );
  const session = `'pgbench-' || :client_id::text`;
  const args = `'{"trip":"trip-00000"}'::bytea`;
  return `\\set n :n + 1
BEGIN;
INSERT INTO undolog_undo_stack (org_id, undo_id, session_id, effect_id, stack_position, state, fn_name, version, args,
  needs_result, max_retries)
VALUES ('${orgId}', ${undoId}, ${session}, ${effectId}, :n, 'pending', 'cancel_flight', '1', ${args}, false, 3);
INSERT INTO undolog_effect_log (org_id, effect_id, session_id, undo_id, stack_position, tool_name, effect_class, state,
  call_id, body_hash, args, call_timeout_ms, traceparent, executed_at)
VALUES ('${orgId}', ${effectId}, ${session}, ${undoId}, :n, 'book_flight', 'compensable', 'executing', NULL, NULL,
  ${args}, 0, NULL, greatest(clock_timestamp(), now() + interval '1 microsecond'));
COMMIT;
`;
}

/** libpq's own variables, so that no password shows among the arguments. */
function environmentOf(databaseUrl: string): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PGHOST: hostname,
    PGPORT: port || '5432',
    PGDATABASE: pathname.slice(1),
  };
  if (username) env['PGUSER'] = decodeURIComponent(username);
  if (password) env['PGPASSWORD'] = decodeURIComponent(password);
  return env;
}

/**
 * Transactions per second of the same two inserts into the same tables, each client on its own session.
 *
 * @returns undefined where there is no pgbench.
 */
export async function measurePgbench(
  workplace: Workplace,
  sql: Sql,
  o: { readonly databaseUrl: string; readonly orgId: string; readonly clients: number; readonly seconds: number },
): Promise<number | undefined> {
  const [folder] = await foldersWith(['pgbench'], process.env['PATH'], USUAL_PLACES);
  if (folder === undefined) return undefined;
  await sql(
    `INSERT INTO undolog_sessions (org_id, session_id, state, on_compensation_failure, body_hash, lease_seconds, max_age_seconds)
     SELECT $1, 'pgbench-' || n, 'active', 'halt', '\\x00', 0, 0 FROM generate_series(0, $2::int - 1) AS g (n)`,
    [o.orgId, o.clients],
  );
  const script = join(workplace.folder, 'pgbench.sql');
  writeFileSync(script, scriptFor(o.orgId));
  const load = ['-M', 'prepared', '-c', String(o.clients), '-j', '2', '-T', String(o.seconds), '-D', 'n=0'];
  const child = spawn(join(folder, 'pgbench'), ['-n', ...load, '-f', script], {
    env: environmentOf(o.databaseUrl),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  const rate = /^tps = ([\d.]+)/m.exec(said)?.[1];
  if (code !== 0 || rate === undefined) throw new Error(`pgbench ended with ${code}\n${complained}`);
  return Number(rate);
}
