import type { ErrorRequestHandler, RequestHandler } from 'express';
import { DatabaseUnavailable } from '@undolog/shared/store/database';
import type { Logger } from '@undolog/shared/runtime/logger';
import { refuse, send, type Reply } from '../reply.js';

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('status' in error)) return undefined;
  return typeof error.status === 'number' ? error.status : undefined;
}

/** What a thrown error looks like from outside: never its message, never its stack. */
export function replyTo(error: unknown): Reply {
  if (error instanceof DatabaseUnavailable) return refuse('unavailable');
  // The router throws this for an address like /v1/sessions/%ff.
  if (error instanceof URIError || statusOf(error) === 400) {
    const message = 'the address is not validly percent-encoded';
    return refuse('invalid_request', message, { errors: [{ path: '', message }] });
  }
  return refuse('internal');
}

/** The last middleware: every error becomes a problem, and what we did not expect goes to the log. */
export function problemHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const reply = replyTo(error);
    const requestId = response.getHeader('x-request-id');
    if (reply.status === 503) logger.warn({ err: error, request_id: requestId }, 'Postgres did not answer');
    else if (reply.status >= 500) logger.error({ err: error, request_id: requestId }, 'request failed');
    send(response, reply);
  };
}

export const notFound: RequestHandler = (_request, response) => {
  send(response, refuse('not_found', 'there is no such route'));
};
