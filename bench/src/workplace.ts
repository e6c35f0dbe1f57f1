import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** All that a run has started: given back in reverse order, whatever became of the run. */
export interface Workplace {
  /** A private folder for logs and scripts. */
  readonly folder: string;
  /** Says on stderr what is going on; stdout is for results. */
  log(line: string): void;
  onLeave(stop: () => Promise<void>): void;
  /** Stops everything; the folder stays if the logs in it are still wanted. */
  leave(keepFolder: boolean): Promise<void>;
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function openWorkplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), 'undolog-bench-'));
  const stops: (() => Promise<void>)[] = [];
  return {
    folder,
    log,
    onLeave: (stop) => void stops.push(stop),
    async leave(keepFolder) {
      for (let stop = stops.pop(); stop; stop = stops.pop()) {
        await stop().catch((error: unknown) => log(`while stopping: ${String(error)}`));
      }
      if (keepFolder) log(`what the processes said is in ${folder}`);
      else rmSync(folder, { recursive: true, force: true });
    },
  };
}
