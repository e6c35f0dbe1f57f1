import type { CompensationQueue } from '@undolog/shared/queue/compensation-queue';
import type { Readiness } from '@undolog/shared/runtime/health-server';
import type { Database } from '@undolog/shared/store/database';
import { queueKindsDiffer } from '@undolog/shared/store/processes';
import { schemaIsCurrent } from '@undolog/shared/store/schema-version';
import { ANSWER_WITHIN_MS, within } from './deadline.js';

/**
 * Whether requests should be sent here. Without Postgres, or with the wrong schema, nothing can be promised; without
 * the queue everything still can, as the sweep finds what the queue was not told.
 */
export function apiReadiness(database: Database, queue: CompensationQueue): () => Promise<Readiness> {
  async function judge(): Promise<Readiness> {
    if (!(await schemaIsCurrent(database))) return unavailable('schema_not_migrated');
    if (await queueKindsDiffer(database, queue.kind)) return unavailable('queue_mismatch');
    const fault = await queue.findFault();
    return fault === undefined
      ? { ready: true, body: { status: 'ok', queue: queue.kind } }
      : { ready: true, body: { status: 'degraded', code: `redis_${fault}` } };
  }
  return () => within(ANSWER_WITHIN_MS, judge()).catch(() => unavailable('postgres_unreachable'));
}

function unavailable(code: string): Readiness {
  return { ready: false, body: { status: 'unavailable', code } };
}
