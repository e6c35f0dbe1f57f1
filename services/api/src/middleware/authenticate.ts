import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import { ANSWER_WITHIN_MS, within } from '../deadline.js';
import { hashOfSecret } from '../api-key.js';
import type { KeyLookup } from '../key-lookup.js';
import { refuse, send } from '../reply.js';
import type { Caller } from '../route.js';

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

function bearerToken(request: IncomingMessage): string | undefined {
  return BEARER.exec(request.headers.authorization ?? '')?.[1];
}

/** The caller that `authenticate` found. */
export function callerOf(response: Response): Caller {
  const caller = response.locals['caller'] as Caller | undefined;
  if (!caller) throw new Error('the route is mounted before authenticate');
  return caller;
}

/** How much of the time in which a client must have its answer is left after the look-up of its key. */
export function timeLeftMs(response: Response): number {
  return (response.locals['leftMs'] as number | undefined) ?? ANSWER_WITHIN_MS;
}

/** Lets requests with a good key pass; everything else under its path is 401, routes that don't exist included. */
export function authenticate(keys: KeyLookup): RequestHandler {
  return async (request, response, next) => {
    const token = bearerToken(request);
    if (token === undefined) return send(response, refuse('unauthorized', 'send Authorization: Bearer with an API key'));
    const startedMs = monotonicMs();
    const caller = await within(ANSWER_WITHIN_MS, keys.find(token));
    if (!caller) return send(response, refuse('unauthorized', 'this API key is not known or was revoked'));
    response.locals['caller'] = caller;
    response.locals['leftMs'] = ANSWER_WITHIN_MS - (monotonicMs() - startedMs);
    next();
  };
}

/** Lets requests with the admin token pass. Comparing hashes takes the same time however much of a guess is right. */
export function requireAdminToken(adminToken: string | undefined): RequestHandler {
  const wanted = adminToken === undefined ? undefined : hashOfSecret(adminToken);
  return (request, response, next) => {
    const token = bearerToken(request);
    const good = wanted !== undefined && token !== undefined && timingSafeEqual(hashOfSecret(token), wanted);
    if (!good) return send(response, refuse('unauthorized', 'this needs the admin token'));
    next();
  };
}
