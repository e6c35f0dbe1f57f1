import type { CompensationQueue } from '../queue/compensation-queue.js';
import type { Database } from '../store/database.js';
import { queueKindsDiffer } from '../store/processes.js';
import { schemaIsCurrent } from '../store/schema-version.js';

export type ProcessFault = 'schema_not_migrated' | 'queue_mismatch' | 'redis_unreachable' | 'redis_evicting_policy';

/** The first thing that keeps a process from all of its work. Rejects when Postgres does not answer. */
export async function findProcessFault(
  database: Database,
  queue: Pick<CompensationQueue, 'kind' | 'findFault'>,
): Promise<ProcessFault | undefined> {
  if (!(await schemaIsCurrent(database))) return 'schema_not_migrated';
  if (await queueKindsDiffer(database, queue.kind)) return 'queue_mismatch';
  const fault = await queue.findFault();
  return fault && `redis_${fault}`;
}
