import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonicMs, uuidv7 } from '@undolog/shared/runtime/clock';
import { answerRoute } from './answer-route.js';
import { ANSWER_WITHIN_MS, within } from './deadline.js';
import { routeFinder, type Found } from './find-route.js';
import { KeyLookup } from './key-lookup.js';
import { adminTokenCheck, authenticate, type Authenticated } from './middleware/authenticate.js';
import { errorReplier } from './middleware/problem.js';
import { limitRate } from './middleware/rate-limit.js';
import { EMPTY_BODY, readBody } from './middleware/read-body.js';
import { refuse, send, type Reply } from './reply.js';
import type { Resources } from './resources.js';
import type { Caller, Route } from './route.js';
import { ORG_ROUTES } from './routes/all-routes.js';
import { createOrgRoute } from './routes/orgs.js';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Names requests in answers and logs: unique per process start, and cheap. */
const PROCESS_ID = uuidv7();

function allows(route: Route, { role }: Caller): boolean {
  return role === 'admin' || route.roles.includes(role);
}

/**
 * Serves `/v1`. A request is let in by its key, then by its role (before anything is looked up, so that a wrong role
 * learns nothing about ids); then its body is read, and its route answers. Every way ends in one reply.
 */
export function createV1(resources: Resources): Serve {
  const { config, database, logger, metrics } = resources;
  const keys = new KeyLookup(database);
  const checkAdminToken = adminTokenCheck(config.adminToken);
  const findRoute = routeFinder([createOrgRoute, ...ORG_ROUTES]);
  const limiter = config.rateLimitPerSecond === undefined ? undefined : limitRate(config.rateLimitPerSecond);
  const replyTo = errorReplier(logger);
  let requests = 0;

  function letIn(request: IncomingMessage, found: Found | URIError): Authenticated | Promise<Authenticated> {
    const makesOrg = 'route' in found && found.route === createOrgRoute;
    return makesOrg ? checkAdminToken(request) : within(ANSWER_WITHIN_MS, authenticate(keys, request));
  }

  /** @returns undefined when the client went away. */
  async function answer(request: IncomingMessage, path: string, found: Found | URIError): Promise<Reply | undefined> {
    const startedMs = monotonicMs();
    const caller = await letIn(request, found);
    if ('refused' in caller) return caller.refused;
    const oneTooMany = await limiter?.(caller.keyId);
    if (oneTooMany) return oneTooMany;
    if (found instanceof URIError) throw found;
    if ('refused' in found) return found.refused;
    const { route, params } = found;
    if (!allows(route, caller)) {
      return refuse('forbidden', `this needs a key of role ${[...route.roles, 'admin'].join(' or ')}`);
    }
    // The time for reading the body is the client's; what is left of ours is for the rest.
    const leftMs = ANSWER_WITHIN_MS - (monotonicMs() - startedMs);
    const body = route.body ? await readBody(request, route.bodyOptional ?? false) : EMPTY_BODY;
    if (!body || 'refused' in body) return body?.refused;
    return within(leftMs, answerRoute(resources, { request, path, route, params, caller, body }));
  }

  function observe(request: IncomingMessage, found: Found | URIError, status: number, startedMs: number): void {
    const route = 'route' in found ? found.route.path : 'none';
    metrics.httpSeconds.observe({ method: request.method!, route, status }, (monotonicMs() - startedMs) / 1000);
  }

  return (request, response) => {
    const startedMs = monotonicMs();
    const requestId = `${PROCESS_ID}-${(requests++).toString(36)}`;
    const path = request.url!.split('?', 1)[0]!;
    const found = tryToFind(() => findRoute(request.method!, path));
    answer(request, path, found)
      .catch((error: unknown) => replyTo(error, requestId))
      .then((reply) => {
        if (!reply) return response.destroy();
        send(response, { ...reply, headers: { ...reply.headers, 'x-request-id': requestId } });
        return observe(request, found, reply.status, startedMs);
      })
      .catch((err: unknown) => logger.error({ err, request_id: requestId }, 'could not send an answer'));
  };
}

/** Who may not come in is told so before being told that the address is malformed. */
function tryToFind(find: () => Found): Found | URIError {
  try {
    return find();
  } catch (error) {
    if (error instanceof URIError) return error;
    throw error;
  }
}
