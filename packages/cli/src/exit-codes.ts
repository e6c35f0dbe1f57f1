import { NoAnswer, UndoLogError } from '@undolog/client';

/** What a program that calls us can tell from the exit code. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  auth: 3,
  not_found: 4,
  conflict: 5,
  /** Some of it was done. */
  partial: 6,
  /** A session needs a person. */
  halted: 7,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command can't do what was asked of it; the message says why. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.error) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandFailed) return error.exitCode;
  if (!(error instanceof UndoLogError)) return EXIT.error;
  if (error.status === 401 || error.status === 403) return EXIT.auth;
  if (error.status === 404) return EXIT.not_found;
  if (error.status === 409 || error.status === 412) return EXIT.conflict;
  return EXIT.error;
}

/** One line for people, and what to do where that is clear. */
export function describeError(error: unknown): string {
  if (error instanceof UndoLogError) {
    const faults = error.errors.map(({ path, message }) => `  ${path || 'the body'} ${message}`);
    const advice = error.status === 401 ? ['  sign in with: undolog login'] : [];
    return [`${error.message} (${error.code})`, ...faults, ...advice].join('\n');
  }
  if (error instanceof NoAnswer) {
    const cause = error.cause instanceof Error ? ((error.cause.cause ?? error.cause) as Error).message : '';
    return `${error.message}${cause === '' ? '' : `: ${cause}`}`;
  }
  return error instanceof Error ? error.message : String(error);
}
