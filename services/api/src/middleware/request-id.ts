import type { RequestHandler } from 'express';
import { uuidv7 } from '@undolog/shared/runtime/clock';

/** Names each request, in its answer and in every line that the log has about it. */
export const requestId: RequestHandler = (_request, response, next) => {
  response.setHeader('x-request-id', uuidv7());
  next();
};
