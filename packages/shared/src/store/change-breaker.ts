import type { Breaker, BreakerState } from '../domain/breaker.js';
import type { Database } from './database.js';

const MAKE = 'INSERT INTO undolog_breakers (org_id, host) VALUES ($1, $2) ON CONFLICT DO NOTHING';

const TAKE = `
SELECT state, failures, answers, failing_sessions, failed_probes,
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms,
  extract(epoch FROM since)::float8 * 1000 AS since_ms,
  extract(epoch FROM window_at)::float8 * 1000 AS window_at_ms,
  extract(epoch FROM retry_at)::float8 * 1000 AS retry_at_ms,
  extract(epoch FROM next_slot_at)::float8 * 1000 AS next_slot_at_ms
FROM undolog_breakers WHERE org_id = $1 AND host = $2 FOR UPDATE`;

const KEEP = `
UPDATE undolog_breakers SET state = $3, since = to_timestamp($4::float8 / 1000), window_at = to_timestamp($5::float8 / 1000),
  failures = $6, answers = $7, failing_sessions = $8, retry_at = to_timestamp($9::float8 / 1000), failed_probes = $10,
  next_slot_at = to_timestamp($11::float8 / 1000)
WHERE org_id = $1 AND host = $2`;

interface Row {
  state: BreakerState;
  failures: number;
  answers: number;
  failing_sessions: string[];
  failed_probes: number;
  now_ms: number;
  since_ms: number;
  window_at_ms: number;
  retry_at_ms: number | null;
  next_slot_at_ms: number;
}

function breakerOf(row: Row): Breaker {
  return {
    state: row.state,
    sinceMs: row.since_ms,
    windowAtMs: row.window_at_ms,
    failures: row.failures,
    answers: row.answers,
    failingSessions: row.failing_sessions,
    retryAtMs: row.retry_at_ms,
    failedProbes: row.failed_probes,
    nextSlotAtMs: row.next_slot_at_ms,
  };
}

/**
 * Changes the breaker of an org's host, all processes in turn, by the database's clock.
 *
 * @returns the breaker as it is now.
 */
export function changeBreaker(
  database: Database,
  orgId: string,
  host: string,
  change: (breaker: Breaker, nowMs: number) => Breaker,
): Promise<Breaker> {
  return database.transaction(async (tx) => {
    await tx.query({ name: 'make_breaker', text: MAKE, values: [orgId, host] });
    const [row] = await tx.query<Row>({ name: 'take_breaker', text: TAKE, values: [orgId, host] });
    const next = change(breakerOf(row!), row!.now_ms);
    const { state, sinceMs, windowAtMs, failures, answers, failingSessions, retryAtMs, failedProbes, nextSlotAtMs } =
      next;
    await tx.query({
      name: 'keep_breaker',
      text: KEEP,
      values: [
        orgId,
        host,
        state,
        sinceMs,
        windowAtMs,
        failures,
        answers,
        failingSessions,
        retryAtMs,
        failedProbes,
        nextSlotAtMs,
      ],
    });
    return next;
  });
}
