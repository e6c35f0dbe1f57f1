import type { CompensationQueue } from '@undolog/shared/queue/compensation-queue';
import type { Readiness } from '@undolog/shared/runtime/health-server';
import type { Database } from '@undolog/shared/store/database';
import { queueKindsDiffer } from '@undolog/shared/store/processes';
import { schemaIsCurrent } from '@undolog/shared/store/schema-version';

type Queue = Pick<CompensationQueue, 'kind' | 'findFault'>;

async function findFault(database: Database, queue: Queue): Promise<string | undefined> {
  if (!(await schemaIsCurrent(database))) return 'schema_not_migrated';
  if (await queueKindsDiffer(database, queue.kind)) return 'queue_mismatch';
  const fault = await queue.findFault();
  return fault === undefined ? undefined : `redis_${fault}`;
}

/** A compensator without its database or its queue can do nothing; unlike the api, it is then not ready at all. */
export async function readiness(database: Database, queue: Queue): Promise<Readiness> {
  const code = await findFault(database, queue).catch(() => 'postgres_unreachable');
  if (code !== undefined) return { ready: false, body: { status: 'unavailable', code } };
  return { ready: true, body: { status: 'ok', queue: queue.kind } };
}
