import type { Request, RequestHandler, Response } from 'express';
import { within } from './deadline.js';
import { executeOperation, type Work } from './execute-operation.js';
import { callerOf, timeLeftMs } from './middleware/authenticate.js';
import { idempotencyKeyOf } from './middleware/idempotency-key.js';
import { EMPTY_BODY, readBody, type BodyResult } from './middleware/read-body.js';
import { refuse, send, type Reply } from './reply.js';
import { checkBody, checkParams, checkQuery, checkTraceparent, hashOfBody, type Checked } from './request-input.js';
import type { Resources } from './resources.js';
import type { RequestFacts, Route } from './route.js';

/**
 * The way of one request to its route: body and query are read and checked, the writes run, the answer leaves, and
 * what was committed is told to the queue. The time for reading the body is the client's; from then on it has its
 * answer within two seconds, come what may.
 */
export function answerRoute(route: Route, resources: Resources): RequestHandler {
  return async (request, response) => {
    const read = route.body ? await readBody(request, route.bodyOptional ?? false) : EMPTY_BODY;
    if (!read) return;
    const work = 'refused' in read ? read : prepare(route, resources, request, response, read);
    if ('refused' in work) return send(response, work.refused);
    send(response, await within(timeLeftMs(response), work()));
  };
}

type Prepared = { readonly refused: Reply } | (() => Promise<Reply>);

function prepare(
  route: Route,
  resources: Resources,
  request: Request,
  response: Response,
  { node }: Exclude<BodyResult, { refused: Reply }>,
): Prepared {
  const params = checkParams(request.params);
  if (!params) return { refused: refuse('not_found') };
  const query: Checked<unknown> = route.query ? checkQuery(route.query, request.originalUrl) : { value: {} };
  if ('refused' in query) return query;
  const idempotency = idempotencyKeyOf(request);
  if ('refused' in idempotency) return idempotency;
  const body: Checked<unknown> = route.body ? checkBody(route.body, node) : { value: {} };

  const caller = callerOf(response);
  let hashed: Buffer | undefined;
  const facts: RequestFacts = {
    caller,
    resources,
    params,
    query: query.value,
    node,
    bodyHash: () => (hashed ??= hashOfBody(node)),
    traceparent: checkTraceparent(request.headers['traceparent']),
  };
  const work: Work = {
    orgId: caller.orgId,
    // A body that was refused is an answer like others: the same key replays it.
    run: (perform) =>
      'refused' in body ? Promise.resolve(body.refused) : route.handle({ ...facts, body: body.value, perform }),
    ...(route.replay && { replay: (kept, tx) => route.replay!(kept, tx, facts) }),
  };
  return async () => {
    const { key } = idempotency;
    const path = request.originalUrl.split('?', 1)[0]!;
    const scope = key === undefined ? undefined : { orgId: caller.orgId, method: 'POST', path, key, bodyHash: facts.bodyHash() };
    const reply = await executeOperation(resources, work, scope);
    if (reply.wake) resources.queue.wake(reply.wake);
    return reply;
  };
}
