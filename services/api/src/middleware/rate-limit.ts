import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { refuse, send } from '../reply.js';
import { callerOf } from './authenticate.js';

const WINDOW_MS = 1000;

/** So many requests per second and key; each api process counts for itself. */
export function limitRate(requestsPerSecond: number): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: requestsPerSecond,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => callerOf(response).keyId,
    handler: (_request, response) => send(response, refuse('rate_limited')),
  });
}
