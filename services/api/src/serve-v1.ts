import type { Request, RequestHandler } from 'express';
import { JsonText } from '@undolog/shared/domain/json-text';
import { redactText } from '@undolog/shared/domain/redact';
import { monotonicMs, uuidv7 } from '@undolog/shared/runtime/clock';
import { answerRoute } from './answer-route.js';
import { ANSWER_WITHIN_MS, within } from './deadline.js';
import { KeyLookup } from './key-lookup.js';
import { adminTokenCheck, authenticate, type Authenticated } from './middleware/authenticate.js';
import { errorReplier } from './middleware/problem.js';
import { limitRate } from './middleware/rate-limit.js';
import { EMPTY_BODY, readBody } from './middleware/read-body.js';
import { JSON_TYPE, refuse, send, type Reply } from './reply.js';
import type { Resources } from './resources.js';
import type { Caller, Route } from './route.js';
import { createOrgRoute } from './routes/orgs.js';

/** Names requests in answers and logs: unique per process start, and cheap. */
const PROCESS_ID = uuidv7();

function allows(route: Route, { role }: Caller): boolean {
  return role === 'admin' || route.roles.includes(role);
}

/**
 * The web page shows no secrets, whoever looks at it: what an admin's screen shows, others may see. What is shown only
 * once was made for this very request.
 */
function redacted(reply: Reply): Reply {
  if (reply.contentType !== JSON_TYPE || reply.text === '' || reply.holdsSecret) return reply;
  return { ...reply, text: redactText(new JsonText(reply.text)).text };
}

/** Makes the handler of a route; a refusal stands for a path or method that has none. */
export type ServeV1 = (target: Route | Reply) => RequestHandler;

/**
 * Serves `/v1`. A request is let in by its key, then by its role (before anything is looked up, so that a wrong role
 * learns nothing about ids); then its body is read, and its route answers. Every way ends in one reply.
 */
export function createV1(resources: Resources): ServeV1 {
  const { config, database, logger, metrics } = resources;
  const keys = new KeyLookup(database);
  const checkAdminToken = adminTokenCheck(config.adminToken);
  const limiter = config.rateLimitPerSecond === undefined ? undefined : limitRate(config.rateLimitPerSecond);
  const replyTo = errorReplier(logger);
  let requests = 0;

  function letIn(request: Request, target: Route | Reply): Authenticated | Promise<Authenticated> {
    if (target === createOrgRoute) return checkAdminToken(request);
    return within(ANSWER_WITHIN_MS, authenticate(keys, database, request));
  }

  /** @returns undefined when the client went away. */
  async function answer(request: Request, target: Route | Reply): Promise<Reply | undefined> {
    const startedMs = monotonicMs();
    const caller = await letIn(request, target);
    if ('refused' in caller) return caller.refused;
    const oneTooMany = await limiter?.(caller.keyId);
    if (oneTooMany) return oneTooMany;
    if (!('handle' in target)) return target;
    if (!allows(target, caller)) {
      return refuse('forbidden', `this needs a key of role ${[...target.roles, 'admin'].join(' or ')}`);
    }
    // The time for reading the body is the client's; what is left of ours is for the rest.
    const leftMs = (target.mayTakeMs ?? ANSWER_WITHIN_MS) - (monotonicMs() - startedMs);
    const body = target.body ? await readBody(request, target) : EMPTY_BODY;
    if (!body || 'refused' in body) return body?.refused;
    const params = request.params as Record<string, string>;
    const path = request.originalUrl.split('?', 1)[0]!;
    const reply = await within(leftMs, answerRoute(resources, { request, path, route: target, params, caller, body }));
    return caller.signInHash === undefined ? reply : redacted(reply);
  }

  return (target) => {
    const route = 'handle' in target ? target.path : 'none';
    return (request, response) => {
      const startedMs = monotonicMs();
      const requestId = `${PROCESS_ID}-${(requests++).toString(36)}`;
      answer(request, target)
        .catch((error: unknown) => replyTo(error, requestId))
        .then((reply) => {
          if (!reply) return response.destroy();
          send(response, { ...reply, headers: { ...reply.headers, 'x-request-id': requestId } });
          const seconds = (monotonicMs() - startedMs) / 1000;
          return metrics.httpSeconds.observe({ method: request.method, route, status: reply.status }, seconds);
        })
        .catch((err: unknown) => logger.error({ err, request_id: requestId }, 'could not send an answer'));
    };
  };
}
