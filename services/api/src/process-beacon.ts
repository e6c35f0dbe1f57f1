import type { QueueKind } from '@undolog/shared/domain/queue-kind';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import type { Logger } from '@undolog/shared/runtime/logger';
import type { Database } from '@undolog/shared/store/database';
import { forgetProcess, recordProcess } from '@undolog/shared/store/processes';

/** Well within the 30 s after which a process counts as gone. */
const EVERY_MS = 10_000;

export interface Beacon {
  stop(): Promise<void>;
}

/** Tells the other processes, again and again, that this one lives and which queue it uses. */
export function startBeacon(options: {
  database: Database;
  role: 'api' | 'compensator';
  queueKind: QueueKind;
  logger: Logger;
}): Beacon {
  const { database, role, queueKind, logger } = options;
  const processId = uuidv7();
  const record = (): void => {
    recordProcess(database, { processId, role, queueKind }).catch((err: unknown) => {
      logger.debug({ err }, 'could not record this process');
    });
  };
  record();
  const timer = setInterval(record, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await forgetProcess(database, processId).catch((err: unknown) => {
        logger.debug({ err }, 'could not take this process off the record');
      });
    },
  };
}
