import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ERROR_CODES, type ErrorCodeName } from '@undolog/shared/domain/error-codes';
import { stringifyWithText } from '@undolog/shared/domain/json-serialize';
import type { WakeUp } from '@undolog/shared/domain/wake-up';
import type { Problem } from '@undolog/shared/wire/problem';

export const JSON_TYPE = 'application/json';
export const PROBLEM_TYPE = 'application/problem+json';

/** An answer as a value: expected refusals are answers too; only surprises are thrown. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** The text as it is sent; empty: no body. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text holds a secret that may be shown only once, so no record of it is kept. */
  readonly holdsSecret?: boolean;
  /** Sent to the queue once what this reply tells has been committed. */
  readonly wake?: WakeUp | null;
  /** The same, where there are many. */
  readonly wakeUps?: readonly WakeUp[];
  /** Sent in place of the text, piece by piece, for as long as it goes on. */
  readonly stream?: AsyncIterable<string>;
}

export function answer(
  status: number,
  body: unknown,
  more: Pick<Reply, 'holdsSecret' | 'wake' | 'wakeUps'> = {},
): Reply {
  return { status, contentType: JSON_TYPE, text: stringifyWithText(body), ...more };
}

export function noContent(): Reply {
  return { status: 204, contentType: JSON_TYPE, text: '' };
}

/** What a problem may carry beside its code and its detail. */
export interface ProblemExtras {
  readonly errors?: Problem['errors'];
  readonly decision?: 'refuse' | 'undo';
  readonly [member: string]: unknown;
}

/** A refusal as RFC 9457 problem; status, title and default detail come from the one table of error codes. */
export function refuse(code: ErrorCodeName, detail?: string, extras: ProblemExtras = {}): Reply {
  const { status, title, meaning } = ERROR_CODES[code];
  const problem = { type: `urn:undolog:error:${code}`, title, status, detail: detail ?? meaning, code, ...extras };
  return {
    status,
    contentType: PROBLEM_TYPE,
    text: stringifyWithText(problem),
    headers: HEADERS_OF[code] ?? NO_HEADERS,
  };
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

const HEADERS_OF: Partial<Record<ErrorCodeName, Readonly<Record<string, string>>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  rate_limited: { 'retry-after': '1' },
  unavailable: { 'retry-after': '1' },
  encryption_key_missing: { 'retry-after': '10' },
  idempotency_key_in_progress: { 'retry-after': '1' },
};

export function badRequest(path: string, message: string): Reply {
  return refuse('invalid_request', message, { errors: [{ path, message }] });
}

/** Writes the reply in one go; a response that was answered already (by the deadline) is left alone. */
export function send(response: ServerResponse, reply: Reply): void {
  if (response.headersSent || response.destroyed) return;
  const headers: Record<string, string | number> = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...reply.headers,
  };
  if (reply.status !== 204) headers['content-type'] = reply.contentType;
  if (reply.stream) {
    response.writeHead(reply.status, headers);
    return void pipeline(Readable.from(reply.stream), response).catch(() => response.destroy());
  }
  if (reply.status !== 204) headers['content-length'] = Buffer.byteLength(reply.text);
  response.writeHead(reply.status, headers);
  response.end(reply.status === 204 ? undefined : reply.text);
}
