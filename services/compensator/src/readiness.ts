import type { Process } from '@undolog/shared/process/open-process';
import type { Readiness } from '@undolog/shared/runtime/health-server';

/** A compensator without its database or its queue can do nothing; unlike the api, it is then not ready at all. */
export async function readiness({ queueKind, findFault }: Process): Promise<Readiness> {
  const code = await findFault().catch(() => 'postgres_unreachable');
  if (code !== undefined) return { ready: false, body: { status: 'unavailable', code } };
  return { ready: true, body: { status: 'ok', queue: queueKind } };
}
