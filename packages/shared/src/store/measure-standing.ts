import type { Tx } from './database.js';

/** What waits for somebody, over all orgs: for the metrics. */
export interface Standing {
  /** Sessions whose unwind is under way, and those that wait for a person; ended ones are not counted. */
  readonly sessionsByState: { readonly failed: number; readonly compensating: number; readonly halted: number };
  readonly openDeadLetters: number;
  /** Age of the session that has been halted longest; 0 when none is. */
  readonly oldestHaltedSeconds: number;
}

// Both parts read partial indexes that hold only what has not ended.
const MEASURE = `
SELECT unwinding.failed, unwinding.compensating, letters.open, letters.oldest_seconds
FROM (
  SELECT count(*) FILTER (WHERE state = 'failed') AS failed, count(*) FILTER (WHERE state = 'compensating') AS compensating
  FROM undolog_sessions WHERE wake_at IS NOT NULL
) AS unwinding, (
  SELECT count(*) AS open, coalesce(extract(epoch FROM clock_timestamp() - min(halted_at)), 0)::float8 AS oldest_seconds
  FROM undolog_dead_letters WHERE state = 'open'
) AS letters`;

export async function measureStanding(tx: Tx): Promise<Standing> {
  const [row] = await tx.query<{ failed: number; compensating: number; open: number; oldest_seconds: number }>({
    text: MEASURE,
  });
  return {
    sessionsByState: { failed: row!.failed, compensating: row!.compensating, halted: row!.open },
    openDeadLetters: row!.open,
    oldestHaltedSeconds: row!.oldest_seconds,
  };
}
