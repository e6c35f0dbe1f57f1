import type { Standing } from '../domain/standing.js';
import type { Tx } from './database.js';

// Both parts read partial indexes that hold only what has not ended.
const MEASURE = `
SELECT unwinding.failed, unwinding.compensating, letters.open, letters.oldest_seconds,
  (SELECT count(*) FROM undolog_breakers WHERE state <> 'closed') AS open_breakers
FROM (
  SELECT count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE state = 'compensating') AS compensating
  FROM undolog_sessions WHERE wake_at IS NOT NULL
) AS unwinding, (
  SELECT count(*) AS open, coalesce(extract(epoch FROM clock_timestamp() - min(halted_at)), 0)::float8 AS oldest_seconds
  FROM undolog_dead_letters WHERE state = 'open'
) AS letters`;

export async function measureStanding(tx: Tx): Promise<Standing> {
  const [row] = await tx.query<{
    failed: number;
    compensating: number;
    open: number;
    oldest_seconds: number;
    open_breakers: number;
  }>({
    text: MEASURE,
  });
  return {
    sessionsByState: { failed: row!.failed, compensating: row!.compensating, halted: row!.open },
    openDeadLetters: row!.open,
    oldestHaltedSeconds: row!.oldest_seconds,
    openBreakers: row!.open_breakers,
  };
}
