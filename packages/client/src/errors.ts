/** UndoLog refused, or answered with something that is no success. */
export class UndoLogError extends Error {
  override readonly name = 'UndoLogError';
  readonly status: number;
  /** A stable word; see the API's page of errors. */
  readonly code: string;
  readonly errors: readonly { readonly path: string; readonly message: string }[];
  /** On a refused call: what the agent has to do. */
  readonly decision: 'refuse' | 'undo' | undefined;
  readonly requestId: string | undefined;

  constructor(status: number, problem: Readonly<Record<string, unknown>>, requestId: string | undefined) {
    const { code, detail, title, errors, decision } = problem;
    super(text(detail) ?? text(title) ?? `UndoLog answered ${status}`);
    this.status = status;
    this.code = text(code) ?? `http_${status}`;
    this.errors = Array.isArray(errors) ? (errors as UndoLogError['errors']) : [];
    this.decision = decision === 'refuse' || decision === 'undo' ? decision : undefined;
    this.requestId = requestId;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** No answer came, however often the request was made. Whether UndoLog has done it is not known. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** For a tool to throw when it is certain that nothing was applied, such as a refused booking. */
export class NotApplied extends Error {
  override readonly name = 'NotApplied';
}

/** The tool was not run, because UndoLog did not say `execute`. */
export class NotExecuted extends Error {
  override readonly name = 'NotExecuted';
  readonly decision: 'in_flight' | 'refuse';
  constructor(decision: 'in_flight' | 'refuse', why: string, options?: ErrorOptions) {
    super(why, options);
    this.decision = decision;
  }
}

/** The tool ran, but its session has ended meanwhile: what it did is undone. */
export class WillBeUndone extends Error {
  override readonly name = 'WillBeUndone';
  readonly result: unknown;
  constructor(result: unknown, options?: ErrorOptions) {
    super('the session has ended; what the call did is undone', options);
    this.result = result;
  }
}
