import { hostOf } from '@undolog/shared/domain/compensation';
import type { Database } from '@undolog/shared/store/database';
import { readEntryCompensation } from '@undolog/shared/store/read-entry-compensation';
import type { WakeUpPayload } from '@undolog/shared/wire/jobs';
import type { FindCompensation } from '@undolog/shared/vendor/compensation-cache';

const MAX_KEPT = 10_000;

/** Tells which host an entry's undo calls, before it is claimed. Asked once per entry, and only where slots are short. */
export function findHosts(
  database: Database,
  findCompensation: FindCompensation,
): (payload: WakeUpPayload) => Promise<string | undefined> {
  const kept = new Map<string, string>();
  return async ({ org_id: orgId, undo_id: undoId }) => {
    // A look at a session calls nobody.
    if (undoId === null) return undefined;
    const known = kept.get(undoId);
    if (known !== undefined) return known;
    const compensation = await readEntryCompensation(database, orgId, undoId);
    if (!compensation) return undefined;
    const spec = await findCompensation(orgId, compensation.fnName, compensation.version);
    // What can't be read now may be readable later.
    if ('fault' in spec) return undefined;
    const host = hostOf(spec);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(undoId, host);
    return host;
  };
}
