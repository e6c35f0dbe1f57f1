import type { UndoLog } from '@undolog/client';
import type { ExitCode } from './exit-codes.js';
import type { Output } from './output.js';
import type { Environment } from './settings.js';

/** What a command works with. */
export interface Context {
  readonly env: Environment;
  readonly output: Output;
  /** Reads the settings when it is first asked for. */
  readonly client: () => UndoLog;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Asks the person; undefined where nobody can be asked. */
  readonly ask: ((question: string, secret?: boolean) => Promise<string>) | undefined;
}

/** A command's work; what it returns is the exit code, nothing means that all is well. */
export type Work = (context: Context) => Promise<ExitCode | void>;
