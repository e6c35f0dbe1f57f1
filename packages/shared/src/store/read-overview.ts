import type { JsonText } from '../domain/json-text.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';
import type { BreakerView } from './read-breakers.js';

/** What is read is bounded: so many of the newest sessions, of the newest entries of the audit log, and open letters. */
const MAX_READ = 50_000;
export const MAX_LETTERS = 10_000;
/** Unwinds whose time is taken. */
const MAX_TIMED = 5_000;
const MAX_CODES = 12;
const MAX_TROUBLES = 100;

/** Milliseconds, the ends of the steps of the histogram; the last one is open. */
export const LATENCY_STEPS_MS = [50, 100, 250, 500, 1_000, 2_500, 5_000, 15_000, 60_000, 600_000];
/** Seconds, the same for how long letters have waited. */
export const AGE_STEPS_SECONDS = [300, 3_600, 21_600, 86_400, 259_200, 604_800];

export interface OverviewCounts {
  readonly at: string;
  readonly since: string;
  readonly active: number;
  readonly failed: number;
  readonly compensating: number;
  /** There are more sessions than were looked at for those that are active. */
  readonly active_capped: boolean;
  /** The time held more than was read. */
  readonly sampled: boolean;
  /** What happened in which step of the time, from 1. */
  readonly steps: readonly (readonly [step: number, what: string, count: number])[] | null;
  readonly timed: {
    readonly count: number;
    readonly p50_ms: number | null;
    readonly p95_ms: number | null;
    readonly p99_ms: number | null;
  };
  /** Of LATENCY_STEPS_MS, from 0. */
  readonly latencies: readonly (readonly [step: number, count: number])[] | null;
  readonly open_letters: number;
  readonly oldest_halted_at: string | null;
  readonly codes: readonly { readonly code: string; readonly count: number }[] | null;
  /** Of AGE_STEPS_SECONDS, from 0. */
  readonly ages: readonly (readonly [step: number, count: number])[] | null;
}

// OFFSET 0: the partial index is the way in, and not the org, which would be all that it ever had.
const COUNTS = `
WITH bounds AS MATERIALIZED (
  SELECT now, now - $2::integer * interval '1 hour' AS since FROM (SELECT clock_timestamp() AS now) AS clock
), opened AS MATERIALIZED (
  SELECT created_at AS at, state FROM undolog_sessions WHERE org_id = $1
  ORDER BY created_at DESC, session_id DESC LIMIT ${MAX_READ}
), told AS MATERIALIZED (
  SELECT at, action, session_id FROM undolog_audit_log WHERE org_id = $1 ORDER BY seq DESC LIMIT ${MAX_READ}
), ended AS MATERIALIZED (
  SELECT told.at, told.session_id, split_part(told.action, '.', 2) AS state FROM bounds JOIN told ON told.at > bounds.since
  WHERE told.action IN ('session.completed', 'session.compensated', 'session.halted')
), timed AS MATERIALIZED (
  SELECT extract(epoch FROM e.at - s.failed_at)::float8 * 1000 AS ms
  FROM (SELECT at, session_id FROM ended WHERE state = 'compensated' LIMIT ${MAX_TIMED}) e
  JOIN undolog_sessions s ON s.session_id = e.session_id AND s.org_id = $1
  WHERE s.failed_at < e.at
), unwinding AS MATERIALIZED (
  SELECT state FROM (SELECT org_id, state FROM undolog_sessions WHERE wake_at IS NOT NULL OFFSET 0) AS s WHERE org_id = $1
), letters AS MATERIALIZED (
  SELECT code, halted_at, extract(epoch FROM bounds.now - halted_at)::float8 AS age
  FROM bounds JOIN (SELECT org_id, code, halted_at FROM undolog_dead_letters WHERE state = 'open' OFFSET 0) AS d
    ON d.org_id = $1 LIMIT ${MAX_LETTERS + 1}
)
SELECT bounds.now AS at, bounds.since,
  (SELECT count(*) FROM opened WHERE state = 'active') AS active,
  (SELECT count(*) = ${MAX_READ} FROM opened) AS active_capped,
  (SELECT count(*) FROM unwinding WHERE state = 'failed') AS failed,
  (SELECT count(*) FROM unwinding WHERE state = 'compensating') AS compensating,
  (SELECT count(*) = ${MAX_READ} AND min(o.at) > bounds.since FROM opened o)
    OR (SELECT count(*) = ${MAX_READ} AND min(t.at) > bounds.since FROM told t) AS sampled,
  (SELECT json_agg(json_build_array(step, what, n)) FROM (
    SELECT width_bucket(extract(epoch FROM x.at - bounds.since)::float8, 0, $2::integer * 3600 + 0.001, $3::integer) AS step,
      what, count(*) AS n
    FROM (SELECT at, 'opened' AS what FROM opened WHERE at > bounds.since
      UNION ALL SELECT at, state FROM ended) AS x
    GROUP BY 1, 2) AS counted) AS steps,
  (SELECT json_build_object('count', count(*), 'p50_ms', percentile_disc(0.5) WITHIN GROUP (ORDER BY ms),
    'p95_ms', percentile_disc(0.95) WITHIN GROUP (ORDER BY ms),
    'p99_ms', percentile_disc(0.99) WITHIN GROUP (ORDER BY ms)) FROM timed) AS timed,
  (SELECT json_agg(json_build_array(step, n)) FROM (
    SELECT width_bucket(ms, $4::float8[]) AS step, count(*) AS n FROM timed GROUP BY 1) AS counted) AS latencies,
  (SELECT count(*) FROM letters) AS open_letters,
  (SELECT min(halted_at) FROM letters) AS oldest_halted_at,
  (SELECT json_agg(json_build_object('code', code, 'count', n) ORDER BY n DESC, code) FROM (
    SELECT code, count(*) AS n FROM letters GROUP BY code ORDER BY n DESC, code LIMIT ${MAX_CODES}) AS counted) AS codes,
  (SELECT json_agg(json_build_array(step, n)) FROM (
    SELECT width_bucket(age, $5::float8[]) AS step, count(*) AS n FROM letters GROUP BY 1) AS counted) AS ages
FROM bounds`;

/** How an org has been doing for some hours, counted in so many steps. */
export async function countOverview(tx: Tx, orgId: string, hours: number, steps: number): Promise<OverviewCounts> {
  const values = [orgId, hours, steps, LATENCY_STEPS_MS, AGE_STEPS_SECONDS];
  const [counts] = await tx.query<OverviewCounts>({ name: 'count_overview', text: COUNTS, values });
  return counts!;
}

export interface Troubles {
  readonly breakers: readonly (BreakerView & { readonly host: string })[];
  readonly paused: readonly { readonly fn_name: string; readonly pause_reason: JsonText }[];
}

/** What is not called freely now: hosts whose breaker is not closed, and compensations that somebody paused. */
export async function readTroubles(tx: Tx, orgId: string): Promise<Troubles> {
  const breakers = await tx.query<BreakerView & { host: string }>({
    name: 'read_troubled_breakers',
    text: `SELECT host, state, since, retry_at FROM undolog_breakers
      WHERE state <> 'closed' AND org_id = $1 ORDER BY host LIMIT ${MAX_TROUBLES}`,
    values: [orgId],
  });
  const paused = await tx.query<{ fn_name: string; reason: Buffer }>({
    name: 'read_paused',
    text: `SELECT fn_name, reason FROM undolog_paused_compensations WHERE org_id = $1 ORDER BY fn_name LIMIT ${MAX_TROUBLES}`,
    values: [orgId],
  });
  return { breakers, paused: paused.map(({ fn_name, reason }) => ({ fn_name, pause_reason: fromBytes(reason) })) };
}
