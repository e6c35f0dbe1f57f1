import type { DeadLetterNotice } from '@undolog/shared/domain/dead-letter-notice';
import type { CompensationQueue } from '@undolog/shared/queue/compensation-queue';
import { findUnannounced, markAnnounced, unmarkIfLost } from '@undolog/shared/store/announce-dead-letters';
import type { Database } from '@undolog/shared/store/database';

const SWEEP_LIMIT = 500;

export interface DeadLetterAnnouncer {
  /** Writes the job of a session that has just halted; if that fails, the sweep does it later. */
  announce(letter: DeadLetterNotice): void;
  /** Writes the jobs that are missing. @returns how many. */
  announceMissing(): Promise<number>;
}

/**
 * The dead letter itself was committed together with the halt. Its job in the dead-letter queue is only an
 * announcement: written after that commit, repeated by the sweep until it is known to be there.
 */
export function createDeadLetterAnnouncer(
  database: Database,
  queue: Pick<CompensationQueue, 'announce' | 'countAnnounced'>,
  onError: (error: Error) => void,
): DeadLetterAnnouncer {
  async function write(letters: readonly DeadLetterNotice[]): Promise<void> {
    if (letters.length === 0) return;
    await queue.announce(letters);
    await markAnnounced(database, letters);
  }
  return {
    announce(letter) {
      write([letter]).catch(onError);
    },
    async announceMissing() {
      await unmarkIfLost(database, await queue.countAnnounced());
      const letters = await findUnannounced(database, SWEEP_LIMIT);
      await write(letters);
      return letters.length;
    },
  };
}
