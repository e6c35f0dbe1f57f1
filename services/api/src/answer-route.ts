import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { canonicalText } from '@undolog/shared/domain/canonical-json';
import { executeOperation, type Work } from './execute-operation.js';
import { idempotencyKeyOf } from './middleware/idempotency-key.js';
import type { BodyResult } from './middleware/read-body.js';
import { refuse, type Reply } from './reply.js';
import { beginRequest } from './request-span.js';
import { checkBody, checkParams, checkQuery, checkTraceparent, type Checked } from './request-input.js';
import type { Resources } from './resources.js';
import type { Caller, RequestFacts, Route } from './route.js';

/** A request that was let in and whose body was read. */
export interface Admitted {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly body: Exclude<BodyResult, { refused: Reply }>;
}

/** Checks what the request says, runs its writes, and tells the queue what was committed. */
export async function answerRoute(resources: Resources, admitted: Admitted): Promise<Reply> {
  const { request, route, caller, path } = admitted;
  const { node } = admitted.body;
  const params = checkParams(admitted.params);
  if (!params) return refuse('not_found');
  const query: Checked<unknown> = route.query ? checkQuery(route.query, request.url!) : { value: {} };
  if ('refused' in query) return query.refused;
  const { key, refused } = idempotencyKeyOf(request);
  if (refused) return refused;
  const body: Checked<unknown> = route.body ? checkBody(route.body, node) : { value: {} };

  const traceparent = checkTraceparent(request.headers['traceparent']);
  const { session_id: sessionId, dead_letter_id: letterId } = params;
  const ids = { 'undolog.org_id': caller.orgId, 'undolog.session_id': sessionId, 'undolog.dead_letter_id': letterId };
  const span = beginRequest(resources.tracing, { name: route.span, parent: traceparent, attributes: ids });
  let canonical: string | undefined;
  const canonicalBody = (): string => (canonical ??= canonicalText(node));
  const facts: RequestFacts = {
    caller,
    resources,
    params,
    query: query.value,
    node,
    bodyHash: () => hash('sha256', canonicalBody(), 'buffer'),
    fingerprint: () => resources.database.vault.fingerprint(caller.orgId, canonicalBody()),
    traceparent: span.traceparent,
    note: (attributes) => span.note(attributes),
    headers: request.headers,
  };
  const work: Work = {
    orgId: caller.orgId,
    apart: route.settlesApart ?? false,
    // A body that was refused is an answer like others: the same key replays it.
    run: (perform) =>
      'refused' in body ? Promise.resolve(body.refused) : route.handle({ ...facts, body: body.value, perform }),
    ...(route.replay && { replay: (kept, tx) => route.replay!(kept, tx, facts) }),
  };
  const scope = key && { orgId: caller.orgId, method: 'POST', path, key, fingerprint: facts.fingerprint() };
  const reply = await executeOperation(resources, work, scope || undefined).catch((error: unknown) => {
    span.end();
    throw error;
  });
  span.end(reply);
  if (reply.wake) resources.queue.wake(span.carry(reply.wake));
  for (const wakeUp of reply.wakeUps ?? []) resources.queue.wake(span.carry(wakeUp));
  return reply;
}
