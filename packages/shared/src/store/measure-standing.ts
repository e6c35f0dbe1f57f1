import { WAITING_CODES, type Standing } from '../domain/standing.js';
import type { Tx } from './database.js';
import { GONE_AFTER } from './processes.js';

/** A scrape looks at the waiting entries of so many sessions; more of them would say no more. */
const MAX_WAITING = 2000;

// The parts read partial indexes that hold only what has not ended; entries are looked up by their own keys.
const MEASURE = `
SELECT unwinding.*, letters.*, waiting.*, processes.*,
  (SELECT count(*) FROM undolog_breakers WHERE state <> 'closed') AS open_breakers
FROM (
  SELECT count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE state = 'compensating') AS compensating,
    coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(failed_at, updated_at))), 0)::float8 AS unwinding_seconds
  FROM undolog_sessions WHERE wake_at IS NOT NULL
) AS unwinding, (
  SELECT count(*) AS open, coalesce(extract(epoch FROM clock_timestamp() - min(halted_at)), 0)::float8 AS halted_seconds
  FROM undolog_dead_letters WHERE state = 'open'
) AS letters, (
  SELECT coalesce(array_agg(w.code), '{}') AS waiting FROM (
    SELECT org_id, top_undo_id FROM undolog_sessions WHERE wake_at IS NOT NULL AND top_undo_id IS NOT NULL LIMIT ${MAX_WAITING}
  ) s CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (
      SELECT FROM undolog_paused_compensations p WHERE p.fn_name = u.fn_name AND p.org_id = u.org_id
    ) THEN 'compensation_paused' ELSE u.code END AS code
    FROM undolog_undo_stack u WHERE u.undo_id = s.top_undo_id AND u.org_id = s.org_id OFFSET 0
  ) w WHERE w.code = ANY ($1)
) AS waiting, (
  SELECT count(*) FILTER (WHERE role = 'api') AS apis, count(*) FILTER (WHERE role = 'compensator') AS compensators
  FROM undolog_processes WHERE seen_at > clock_timestamp() - ${GONE_AFTER}
) AS processes`;

interface Row {
  failed: number;
  compensating: number;
  unwinding_seconds: number;
  open: number;
  halted_seconds: number;
  waiting: string[];
  apis: number;
  compensators: number;
  open_breakers: number;
}

export async function measureStanding(tx: Tx): Promise<Standing> {
  const [found] = await tx.query<Row>({ text: MEASURE, values: [WAITING_CODES] });
  const row = found!;
  const waiting = WAITING_CODES.map((code) => [code, row.waiting.filter((one) => one === code).length]);
  return {
    sessionsByState: { failed: row.failed, compensating: row.compensating, halted: row.open },
    oldestUnwindingSeconds: row.unwinding_seconds,
    openDeadLetters: row.open,
    oldestHaltedSeconds: row.halted_seconds,
    openBreakers: row.open_breakers,
    waitingByCode: Object.fromEntries(waiting) as Standing['waitingByCode'],
    processesByRole: { api: row.apis, compensator: row.compensators },
  };
}
