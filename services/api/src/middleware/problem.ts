import type { ErrorRequestHandler, RequestHandler } from 'express';
import { UnreadableValue } from '@undolog/shared/domain/vault';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { Logger } from '@undolog/shared/runtime/logger';
import { DatabaseUnavailable } from '@undolog/shared/store/database';
import { badRequest, refuse, send, type Reply } from '../reply.js';

/** While Postgres is away every request fails for the same reason, and one line per second tells it. */
const OUTAGE_LINE_EVERY_MS = 1000;

/** Turns what was thrown into an answer, and into a line of the log where somebody should know. */
export type ErrorReplier = (error: unknown, requestId?: string) => Reply;

/** What a thrown error looks like from outside: never its message, never its stack. */
export function errorReplier(logger: Logger): ErrorReplier {
  let toldMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (error, requestId) => {
    if (error instanceof DatabaseUnavailable) {
      untold++;
      if (monotonicMs() - toldMs >= OUTAGE_LINE_EVERY_MS) {
        logger.warn({ err: error, request_id: requestId, requests: untold }, 'Postgres did not answer');
        toldMs = monotonicMs();
        untold = 0;
      }
      return refuse('unavailable');
    }
    if (error instanceof UnreadableValue && error.fault === 'encryption_key_missing') {
      logger.warn({ request_id: requestId }, 'a stored value names an encryption key that this process does not have');
      return refuse('encryption_key_missing');
    }
    // An address like /v1/sessions/%ff: thrown by decodeURIComponent, and by Express with a status.
    const malformed =
      error instanceof URIError || (error instanceof Error && 'status' in error && error.status === 400);
    if (malformed) return badRequest('', 'the address is not validly percent-encoded');
    logger.error({ err: error, request_id: requestId }, 'request failed');
    return refuse('internal');
  };
}

/** The last of Express's handlers. */
export function problemHandler(replyTo: ErrorReplier): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => send(response, replyTo(error));
}

export const notFound: RequestHandler = (_request, response) => {
  send(response, refuse('not_found', 'there is no such route'));
};
