import { uuidv7 } from '../runtime/clock.js';
import type { Database } from '../store/database.js';
import { forgetProcess, recordProcess, type ProcessRecord } from '../store/processes.js';

/** Well within the 30 s after which a process counts as gone. */
const EVERY_MS = 10_000;

export interface Beacon {
  /** Takes the process off the record. */
  stop(): Promise<void>;
}

/** Tells the other processes, now and then again and again, that this one lives and which queue it uses. */
export function startBeacon(
  database: Database,
  traits: Omit<ProcessRecord, 'processId'>,
  onError: (error: Error) => void,
): Beacon {
  const process = { processId: uuidv7(), ...traits };
  const record = (): void => void recordProcess(database, process).catch(onError);
  record();
  const timer = setInterval(record, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await forgetProcess(database, process.processId).catch(onError);
    },
  };
}
