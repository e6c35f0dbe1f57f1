import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { ERROR_CODES, type ErrorCodeName } from '@undolog/shared/domain/error-codes';
import { problem } from '@undolog/shared/wire/problem';
import { JSON_TYPE, PROBLEM_TYPE } from './reply.js';
import type { Route } from './route.js';
import { ORG_ROUTES } from './routes/all-routes.js';
import { createOrgRoute } from './routes/orgs.js';

const API_KEY = 'api_key';
const ADMIN_TOKEN = 'admin_token';

/** What every route may refuse with. */
const COMMON: readonly ErrorCodeName[] = [
  'unauthorized',
  'forbidden',
  'csrf_refused',
  'rate_limited',
  'internal',
  'unavailable',
];
const OF_BODIES: readonly ErrorCodeName[] = [
  'invalid_json',
  'duplicate_key',
  'too_deep',
  'invalid_request',
  'body_too_large',
  'unsupported_media_type',
];
const OF_POSTS: readonly ErrorCodeName[] = [
  'invalid_idempotency_key',
  'idempotency_key_in_progress',
  'idempotency_key_reused',
];

function refusalsOf(route: Route): ErrorCodeName[] {
  const codes = [
    ...route.refusals,
    ...(route.body ? OF_BODIES : []),
    ...(route.query ? (['invalid_request'] as const) : []),
    ...(route.method === 'post' ? OF_POSTS : []),
    ...COMMON,
  ];
  return [...new Set(codes)];
}

/** One response per status; its description lists the codes that come with it. */
function problemResponses(route: Route): RouteConfig['responses'] {
  const byStatus = new Map<number, ErrorCodeName[]>();
  for (const code of refusalsOf(route)) {
    const { status } = ERROR_CODES[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join('\n\n'),
        content: { [PROBLEM_TYPE]: { schema: problem } },
      },
    ]),
  );
}

function answersOf(route: Route): RouteConfig['responses'] {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, { description, schema }]) => [
      status,
      { description, ...(schema && { content: { [JSON_TYPE]: { schema } } }) },
    ]),
  );
}

function paramsOf({ path }: Route): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return names.length === 0 ? undefined : z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}

const IDEMPOTENCY_HEADER = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().meta({
    description: 'Repeat the same request under the same key after a lost answer: it is done once. Kept 24 h.',
  }),
});

function toConfig(route: Route): RouteConfig {
  const { method, path, summary, roles, body, bodyOptional, mediaType = JSON_TYPE, query } = route;
  const forAdmins = route === createOrgRoute;
  const params = paramsOf(route);
  return {
    method,
    path,
    summary,
    description: forAdmins ? 'Admin token.' : `Roles: ${[...roles, 'admin'].join(', ')}.`,
    tags: [path.split('/')[2]!],
    security: [{ [forAdmins ? ADMIN_TOKEN : API_KEY]: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query: query as z.ZodObject }),
      ...(method === 'post' && { headers: IDEMPOTENCY_HEADER }),
      ...(body && { body: { content: { [mediaType]: { schema: body.schema } }, required: !bodyOptional } }),
    },
    responses: { ...answersOf(route), ...problemResponses(route) },
  };
}

/** The OpenAPI 3.1 document of the routes as they are served, from the schemas that check them. */
export function describeApi(version: string): object {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', API_KEY, { type: 'http', scheme: 'bearer', description: 'ul_…' });
  registry.registerComponent('securitySchemes', ADMIN_TOKEN, { type: 'http', scheme: 'bearer' });
  for (const route of [createOrgRoute, ...ORG_ROUTES]) registry.registerPath(toConfig(route));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'UndoLog',
      version,
      description: 'Rollback for AI agents: every tool call is recorded with its undo before it runs.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
  });
}
