import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Evidence, HistoryLine, RunFacts, VendorCall } from './evidence.js';

type Line = Record<string, unknown>;

async function linesOf(path: string): Promise<Line[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

/** The vendor writes a line when a call has come, one when it has decided, and one when the connection is done with it. */
function callsOf(lines: readonly Line[]): VendorCall[] {
  const calls = new Map<number, { -readonly [Member in keyof VendorCall]: VendorCall[Member] }>();
  for (const [line, { type, call: number, at, ...rest }] of lines.entries()) {
    const call = calls.get(number as number);
    if (type === 'received') {
      const received = rest as unknown as Omit<VendorCall, 'line' | 'atMs' | 'decided' | 'closed'>;
      calls.set(number as number, { ...received, line, atMs: at as number, decided: undefined, closed: undefined });
    } else if (type === 'decided') call!.decided = rest as unknown as VendorCall['decided'];
    else if (type === 'closed') call!.closed = { line, atMs: at as number, delivered: rest['delivered'] as boolean };
  }
  return [...calls.values()];
}

function historyOf(lines: readonly Line[]): HistoryLine[] {
  return lines.map(({ at, ...rest }) => ({ ...(rest as unknown as HistoryLine), atMs: at as number }));
}

const MS = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

const ROWS = {
  sessions: `SELECT org_id, session_id, state, ${MS('failed_at')} AS failed_ms FROM undolog_sessions`,
  entries: `SELECT org_id, undo_id, session_id, effect_id, stack_position, generation, state, proof,
    convert_from(reason, 'UTF8') AS reason, fn_name, superseded_by FROM undolog_undo_stack`,
  effects: `SELECT org_id, effect_id, session_id, state, reported, ${MS('executed_at')} AS executed_ms,
    committed_at IS NOT NULL AS committed FROM undolog_effect_log`,
  attempts: `SELECT undo_id, attempt, ${MS('at')} AS at_ms, status FROM undolog_attempts ORDER BY undo_id, attempt`,
  letters: 'SELECT org_id, session_id, state, code FROM undolog_dead_letters',
  moves: `SELECT ${MS('at')} AS at_ms, org_id, thing, id, from_state, to_state FROM chaos_moves ORDER BY n`,
  audit: 'SELECT org_id, action, session_id, undo_id FROM undolog_audit_log ORDER BY xid, seq',
  // What a seal is made of is written down in docs/adr/0026; here it is made once more.
  seals: `
    SELECT s.org_id, s.number::int, s.entries, e.found, encode(s.hash, 'hex') AS hash, encode(sha256(
      coalesce(p.hash, ''::bytea) || int8send(s.number) || e.hashes), 'hex') AS made_again
    FROM undolog_audit_seals s
    LEFT JOIN undolog_audit_seals p ON p.org_id = s.org_id AND p.number = s.number - 1
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS found, coalesce(string_agg(sha256(convert_to(json_build_array(
        a.xid::text, a.seq, (extract(epoch FROM a.at) * 1000000)::bigint, a.actor, a.action, a.session_id, a.undo_id,
        a.fn_name, encode(coalesce(a.erased_reason_hash, sha256(a.reason)), 'hex'))::text, 'UTF8')), ''::bytea
        ORDER BY a.xid, a.seq), ''::bytea) AS hashes
      FROM undolog_audit_log a
      WHERE a.org_id = s.org_id AND (a.xid, a.seq) <= (s.to_xid, s.to_seq)
        AND (a.xid, a.seq) > (coalesce(p.to_xid, '0'), coalesce(p.to_seq, 0))
    ) e ORDER BY s.org_id, s.number`,
} as const satisfies Partial<Record<keyof Evidence, string>>;

const UNSEALED = `
SELECT count(*)::int AS unsealed FROM undolog_audit_log a WHERE NOT EXISTS (
  SELECT 1 FROM undolog_audit_seals s WHERE s.org_id = a.org_id AND (s.to_xid, s.to_seq) >= (a.xid, a.seq))`;

const TABLES = `SELECT table_name AS name FROM information_schema.tables
WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name LIKE 'undolog%'`;

/** As text, and as the text of bytes. */
async function leaksInDatabase(client: pg.Client, canaries: readonly string[]): Promise<string[]> {
  const leaks: string[] = [];
  for (const { name } of (await client.query<{ name: string }>(TABLES)).rows) {
    for (const canary of canaries) {
      const forms = [canary, Buffer.from(canary).toString('hex')].map((form) => `%${form}%`);
      const { rows } = await client.query(`SELECT 1 FROM ${name} t WHERE t::text LIKE ANY ($1) LIMIT 1`, [forms]);
      if (rows.length > 0) leaks.push(`${canary} is in the table ${name}`);
    }
  }
  return leaks;
}

/** The vendor and the agents may know the canaries; nobody else who wrote a file into the folder. */
async function leaksInFiles(folder: string, canaries: readonly string[]): Promise<string[]> {
  const leaks: string[] = [];
  for (const name of await readdir(folder)) {
    if (!/\.(log|txt)$/.test(name)) continue;
    const text = await readFile(join(folder, name), 'utf8');
    for (const canary of canaries) if (text.includes(canary)) leaks.push(`${canary} is in ${name}`);
  }
  return leaks;
}

/** Reads what a run left in its folder and in its database. */
export async function readEvidence(folder: string, databaseUrl: string): Promise<Evidence> {
  const run = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')) as RunFacts;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const rows: Record<string, unknown[]> = {};
    for (const [name, text] of Object.entries(ROWS)) rows[name] = (await client.query<Line>(text)).rows;
    const [{ unsealed }] = (await client.query<{ unsealed: number }>(UNSEALED)).rows as [{ unsealed: number }];
    return {
      ...(rows as unknown as Pick<Evidence, keyof typeof ROWS>),
      run,
      unsealed,
      calls: callsOf(await linesOf(join(folder, 'vendor.jsonl'))),
      history: historyOf(await linesOf(join(folder, 'history.jsonl'))),
      leaks: [...(await leaksInDatabase(client, run.canaries)), ...(await leaksInFiles(folder, run.canaries))],
    };
  } finally {
    await client.end();
  }
}
