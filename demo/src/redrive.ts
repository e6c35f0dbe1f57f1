import { createVault } from '@undolog/shared/runtime/vault';
import { openDatabase } from '@undolog/shared/store/database';
import { redriveSession } from '@undolog/shared/store/redrive-session';

/** Who asked for it, in the audit log. */
const ACTOR = 'demo';

/**
 * Gives every halted session another round, with a fresh budget for its broken entry under the same undo id.
 *
 * It goes straight to the database; the compensators' sweep then finds the sessions and wakes them.
 */
export async function redriveSessions(
  databaseUrl: string,
  orgId: string,
  sessionIds: readonly string[],
  onError: (error: Error) => void,
): Promise<void> {
  const database = openDatabase({
    url: databaseUrl,
    // It moves states and reads no arguments.
    vault: createVault(undefined),
    maxConnections: 1,
    connectTimeoutMs: 5_000,
    queryTimeoutMs: 10_000,
    onError,
  });
  try {
    for (const sessionId of sessionIds) {
      const resumed = await database.transaction((tx) => redriveSession(tx, orgId, sessionId, ACTOR));
      if (!resumed) throw new Error(`${sessionId} is not halted`);
    }
  } finally {
    await database.close();
  }
}
