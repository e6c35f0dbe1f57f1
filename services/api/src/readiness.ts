import type { Process } from '@undolog/shared/process/open-process';
import type { Readiness } from '@undolog/shared/runtime/health-server';
import { ANSWER_WITHIN_MS, within } from './deadline.js';

/**
 * Whether requests should be sent here. Without Postgres, or with the wrong schema or queue, nothing can be promised;
 * without Redis everything still can, as the sweep finds what the queue was not told.
 */
export async function apiReadiness({ queueKind, findFault }: Process): Promise<Readiness> {
  const code = await within(ANSWER_WITHIN_MS, findFault()).catch(() => 'postgres_unreachable' as const);
  switch (code) {
    case undefined:
      return { ready: true, body: { status: 'ok', queue: queueKind } };
    case 'redis_unreachable':
    case 'redis_evicting_policy':
      return { ready: true, body: { status: 'degraded', code } };
    case 'postgres_unreachable':
    case 'schema_not_migrated':
    case 'queue_mismatch':
      return { ready: false, body: { status: 'unavailable', code } };
    default:
      return code satisfies never;
  }
}
