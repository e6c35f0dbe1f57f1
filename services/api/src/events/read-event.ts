import { hash } from 'node:crypto';
import { canonicalText } from '@undolog/shared/domain/canonical-json';
import { exactValue } from '@undolog/shared/domain/exact-value';
import { memberOf, type JsonNode } from '@undolog/shared/domain/json-text';
import type { KeyScope } from '@undolog/shared/store/idempotency';
import { eventAttributes, type EventType } from '@undolog/shared/wire/events';
import { badRequest, refuse, type Reply } from '../reply.js';
import { check, checkBody, checkParams, checkTraceparent } from '../request-input.js';
import type { Resources } from '../resources.js';
import type { Caller, RequestContext, Route } from '../route.js';
import { commitEffectRoute, failEffectRoute } from '../routes/effect-reports.js';
import { registerEffectRoute } from '../routes/register-effect.js';
import { completeSessionRoute, failSessionRoute } from '../routes/session-ends.js';
import { openSessionRoute } from '../routes/sessions.js';

type IdName = 'session_id' | 'effect_id';

/** Which route an event stands for, which id of its data stands in the route's path, and which others it may name. */
interface EventRoute {
  readonly route: Route;
  readonly param?: IdName;
  readonly also?: IdName;
}

const EVENT_ROUTES: Readonly<Record<EventType, EventRoute>> = {
  'undolog.session.started': { route: openSessionRoute },
  'undolog.session.completed': { route: completeSessionRoute, param: 'session_id' },
  'undolog.session.failed': { route: failSessionRoute, param: 'session_id' },
  'undolog.effect.registered': { route: registerEffectRoute, param: 'session_id' },
  'undolog.effect.committed': { route: commitEffectRoute, param: 'effect_id', also: 'session_id' },
  'undolog.effect.failed': { route: failEffectRoute, param: 'effect_id', also: 'session_id' },
};

/** An event that is to be settled, with all that its route asks for. */
export interface ReadEvent {
  readonly id: string;
  readonly route: Route;
  readonly scope: KeyScope;
  readonly context: Omit<RequestContext, 'perform'>;
  /** Undefined for a report that names its effect alone. */
  readonly sessionId: string | undefined;
}

export interface RefusedEvent {
  readonly id: string | null;
  readonly refused: Reply;
}

/** Attributes alone, so that arguments are not turned into values on the way. */
function attributesOf(event: JsonNode): Record<string, unknown> {
  if (event.kind !== 'object') return {};
  const plain = event.members.filter(({ key }) => key !== 'data' && key !== '__proto__');
  return Object.fromEntries(plain.map(({ key, value }) => [key, exactValue(value)]));
}

function idIn(data: JsonNode, name: IdName): string | undefined {
  const node = memberOf(data, name);
  const value = node && exactValue(node);
  return typeof value === 'string' ? value : undefined;
}

/** The data without the ids that its route has in its path. */
function bodyOf(data: JsonNode, { param, also }: EventRoute): JsonNode {
  if (data.kind !== 'object') return data;
  return { ...data, members: data.members.filter(({ key }) => key !== param && key !== also) };
}

/** Reads one event of a batch. A bad one is refused by itself, with what its own route would say. */
export function readEvent(event: JsonNode, caller: Caller, resources: Resources): ReadEvent | RefusedEvent {
  const attributes = check(eventAttributes, attributesOf(event));
  if ('refused' in attributes) {
    const { id } = attributesOf(event);
    return { id: typeof id === 'string' ? id : null, refused: attributes.refused };
  }
  const { id, source, type, traceparent } = attributes.value;
  const data = memberOf(event, 'data');
  if (data?.kind !== 'object') return { id, refused: badRequest('/data', 'data must be an object') };
  const target = EVENT_ROUTES[type];
  const { route, param } = target;
  const named = param && idIn(data, param);
  if (param && named === undefined) return { id, refused: badRequest(`/data/${param}`, `${param} must be a string`) };
  const params = checkParams(param ? { [param]: named } : {});
  if (!params) return { id, refused: refuse('not_found') };
  const node = bodyOf(data, target);
  const body = checkBody(route.body!, node);
  if ('refused' in body) return { id, refused: body.refused };

  const { vault } = resources.database;
  const canonical = canonicalText(node);
  return {
    id,
    route,
    scope: {
      orgId: caller.orgId,
      method: 'EVENT',
      path: source,
      key: id,
      fingerprint: vault.fingerprint(caller.orgId, `${type} ${named ?? ''} ${canonical}`),
    },
    context: {
      caller,
      resources,
      params,
      query: {},
      body: body.value,
      node,
      bodyHash: () => hash('sha256', canonical, 'buffer'),
      fingerprint: () => vault.fingerprint(caller.orgId, canonical),
      traceparent: checkTraceparent(traceparent),
      // A run of events is one request of many parts: what follows shows below the span that each event named.
      note: () => undefined,
      headers: {},
    },
    sessionId: idIn(data, 'session_id'),
  };
}
