import type { Database } from '@undolog/shared/store/database';
import { sealAudit } from '@undolog/shared/store/seal-audit';

const BATCH = 2000;
const MAX_BATCHES = 50;

/** The sweep's duty of sealing the audit log, beside the work that is written there. */
export function keepSealed(database: Database): () => Promise<void> {
  return async () => {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      if ((await sealAudit(database, BATCH)) < BATCH) return;
    }
  };
}
