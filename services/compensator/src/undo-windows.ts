import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { Metrics } from '@undolog/shared/runtime/metrics';
import type { Database } from '@undolog/shared/store/database';
import { warnOfDeadlines } from '@undolog/shared/store/warn-of-deadlines';

/** A look goes over all that is not undone, so it may take this share of the time and no more. */
const SHARE = 0.05;
const MAX_WARNINGS = 500;

/** The sweep's duty of telling, in time, which undos their vendors will soon refuse. */
export function warnInTime(database: Database, { undoDeadlinesNear }: Pick<Metrics, 'undoDeadlinesNear'>) {
  let nextLookMs = 0;
  return async (): Promise<void> => {
    const startedMs = monotonicMs();
    if (startedMs < nextLookMs) return;
    const near = await warnOfDeadlines(database, MAX_WARNINGS);
    if (near > 0) undoDeadlinesNear.inc(near);
    nextLookMs = startedMs + (monotonicMs() - startedMs) / SHARE;
  };
}
