import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { Database } from '@undolog/shared/store/database';
import { deleteOldSessions } from '@undolog/shared/store/delete-old-sessions';

/** What one transaction deletes at most. Ones five times as large are no faster, and registrations wait for them. */
const LIMITS = { sessions: 100, effects: 1000 } as const;
const MAX_BATCHES = 50;
/** Sessions are kept for days, so a minute does not matter; a look costs a probe per org. */
const IDLE_MS = 60_000;

/** The sweep's duty of deleting what ended more than `days` ago: a bounded number per turn, and a rest once none is left. */
export function keepFor(database: Database, days: number): () => Promise<void> {
  let nextLookMs = 0;
  return async () => {
    if (monotonicMs() < nextLookMs) return;
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      if ((await deleteOldSessions(database, days, LIMITS)) > 0) continue;
      nextLookMs = monotonicMs() + IDLE_MS;
      return;
    }
  };
}
