/** What a handler answers. Nothing stands for 200 without a body. */
export interface HandlerAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** What goes out over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface FinalAnswer {
  readonly status: number;
  readonly body: string | null;
}

export function toFinal(answer: HandlerAnswer | void): FinalAnswer {
  const { status = 200, body } = answer ?? {};
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`not an HTTP status: ${status}`);
  return { status, body: body === undefined ? null : JSON.stringify(body) };
}

const TRY_AGAIN = new Set([408, 409, 425, 429]);

/** Whether the same call would be answered so for ever. What asks for another try is never kept, or no try could differ. */
export function isFinal({ status }: FinalAnswer): boolean {
  return status < 500 && !TRY_AGAIN.has(status);
}

export function toHttp({ status, body }: FinalAnswer, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
  return { status, headers: body === null ? headers : { 'content-type': 'application/json', ...headers }, body };
}

const PROBLEMS = {
  key_missing: [400, 'The headers Idempotency-Key and Undolog-Effect-Key are required.'],
  not_json: [400, 'The body is not JSON in UTF-8.'],
  signature_invalid: [401, 'The call is not signed by UndoLog.'],
  key_not_signed: [401, 'Idempotency-Key differs from webhook-id, which is what the signature covers.'],
  in_progress: [409, 'A call under this Idempotency-Key is being carried out.'],
  body_too_large: [413, 'The body is longer than UndoLog sends.'],
  key_reused: [422, 'This Idempotency-Key came with another body before.'],
  handler_failed: [500, 'The call was not carried out; it may be sent again.'],
  raw_body_missing: [
    500,
    'A body parser ran before the signature could be checked; see the README of @undolog/receiver.',
  ],
  unavailable: [503, 'The barrier could not be reached; the call may be sent again.'],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** RFC 9457. */
export function problem(code: ProblemCode, more: { detail?: string; retryAfterSeconds?: number } = {}): HttpAnswer {
  const [status, title] = PROBLEMS[code];
  const retry = more.retryAfterSeconds === undefined ? {} : { 'retry-after': String(more.retryAfterSeconds) };
  const { detail } = more;
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...retry },
    body: JSON.stringify({ type: 'about:blank', title, status, code, ...(detail === undefined ? {} : { detail }) }),
  };
}
