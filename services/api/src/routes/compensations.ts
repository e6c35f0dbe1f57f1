import { hostOf, type Compensation } from '@undolog/shared/domain/compensation';
import {
  faultOfCompensation,
  faultOfSecrets,
  type CompensationFault,
} from '@undolog/shared/domain/compensation-faults';
import { stringifyWithText } from '@undolog/shared/domain/json-serialize';
import { JsonText, memberOf, type JsonNode } from '@undolog/shared/domain/json-text';
import { redactText } from '@undolog/shared/domain/redact';
import type { Role } from '@undolog/shared/domain/roles';
import { isSecretName } from '@undolog/shared/domain/secret-rules';
import type { Database } from '@undolog/shared/store/database';
import { putCompensation } from '@undolog/shared/store/put-compensation';
import {
  listCompensations,
  readCompensation,
  type RegisteredCompensation,
} from '@undolog/shared/store/read-compensations';
import { readBreakers, UNTROUBLED, type BreakerView } from '@undolog/shared/store/read-breakers';
import { readSecrets } from '@undolog/shared/store/read-secrets';
import { compensationName, compensationView, putCompensationBody } from '@undolog/shared/wire/compensations';
import { whole } from '@undolog/shared/wire/paging';
import { answer, refuse, type Reply } from '../reply.js';
import { defineRoute, type RequestContext, type Route } from '../route.js';

const PATH = '/v1/compensations/{fn_name}/{version}';

function view(
  { fnName, version, spec, createdAt, pauseReason }: RegisteredCompensation,
  breaker: BreakerView,
  role: Role,
): JsonText {
  const shown = {
    fn_name: fnName,
    version,
    ...spec,
    created_at: createdAt,
    paused: pauseReason !== null,
    pause_reason: pauseReason,
    breaker,
  };
  const json = new JsonText(stringifyWithText(shown));
  return role === 'operator' ? redactText(json) : json;
}

/** Compensations as they are shown, each with the breaker of its host. */
async function viewsOf(
  all: readonly RegisteredCompensation[],
  { caller, resources }: RequestContext,
): Promise<JsonText[]> {
  const hosts = all.map(({ spec }) => hostOf(spec));
  const breakers = await readBreakers(resources.database, caller.orgId, [...new Set(hosts)]);
  return all.map((one, index) => view(one, breakers.get(hosts[index]!) ?? UNTROUBLED, caller.role));
}

/** Each address is judged by what it resolves to now, and once more at every call. */
async function faultOfAddresses(
  spec: Compensation,
  faultOfUrl: (url: string) => Promise<string | undefined>,
): Promise<Reply | undefined> {
  const addresses = [
    { path: '/url', url: spec.url },
    ...(spec.confirm ? [{ path: '/confirm/url', url: spec.confirm.url }] : []),
    ...(spec.lookup ? [{ path: '/lookup/url', url: spec.lookup.url }] : []),
  ];
  const faults = await Promise.all(addresses.map(({ url }) => faultOfUrl(url)));
  const at = faults.findIndex((fault) => fault !== undefined);
  if (at < 0) return undefined;
  const message = faults[at]!;
  return refuse('url_not_allowed', message, { errors: [{ path: addresses[at]!.path, message }] });
}

async function existingSecrets(database: Database, orgId: string, { headers }: Compensation): Promise<Set<string>> {
  const names = Object.values(headers).flatMap((value) => (typeof value === 'string' ? [] : [value.secret]));
  // What can't be a name is not looked up.
  const possible = names.filter(isSecretName);
  return possible.length === 0 ? new Set() : new Set((await readSecrets(database, orgId, possible)).keys());
}

/** A record's schema passes over this one name, which is nothing special in JSON. */
function hiddenHeader(node: JsonNode): CompensationFault | undefined {
  const headers = memberOf(node, 'headers');
  if (!headers || !memberOf(headers, '__proto__')) return undefined;
  return { code: 'header_not_allowed', path: '/headers/__proto__', message: 'the header is not allowed' };
}

const put = defineRoute({
  method: 'put',
  path: PATH,
  roles: [],
  summary: 'Register a version of a compensation',
  body: putCompensationBody,
  answers: {
    201: { description: 'Registered.', schema: compensationView },
    200: { description: 'It was registered before, with the same body.', schema: compensationView },
  },
  refusals: [
    'compensation_immutable',
    'url_not_allowed',
    'header_not_allowed',
    'unknown_secret',
    'ambiguous_outcome',
    'confirm_required',
  ],
  async handle(context) {
    const { body: spec, node, fingerprint, caller, params, perform, resources } = context;
    const name = compensationName.safeParse(params);
    if (!name.success) {
      const errors = name.error.issues.map(({ path, message }) => ({ path: `/${path.join('/')}`, message }));
      return refuse('invalid_request', 'fn_name or version is not a name', { errors });
    }
    const fault =
      faultOfCompensation(spec) ??
      hiddenHeader(node) ??
      faultOfSecrets(spec, await existingSecrets(resources.database, caller.orgId, spec));
    if (fault) return refuse(fault.code, fault.message, { errors: [{ path: fault.path, message: fault.message }] });
    const refused = await faultOfAddresses(spec, resources.faultOfUrl);
    if (refused) return refused;
    const { fn_name: fnName, version } = name.data;
    const { outcome } = await perform(putCompensation, {
      fnName,
      version,
      specText: stringifyWithText(spec),
      maxRetries: spec.retry.max_retries,
      undoDeadlineSeconds: spec.undo_deadline_seconds,
      looksUp: spec.lookup !== undefined,
      fingerprint: fingerprint(),
    });
    if (outcome === 'immutable') return refuse('compensation_immutable');
    const kept = await readCompensation(resources.database, caller.orgId, fnName, version);
    const [shown] = await viewsOf([kept!], context);
    return answer(outcome === 'created' ? 201 : 200, shown);
  },
});

const list = defineRoute({
  method: 'get',
  path: '/v1/compensations',
  roles: ['agent', 'operator'],
  summary: 'List all compensations, by name and version',
  answers: { 200: { description: 'Every version.', schema: whole(compensationView) } },
  refusals: [],
  async handle(context) {
    const all = await listCompensations(context.resources.database, context.caller.orgId);
    return answer(200, { data: await viewsOf(all, context) });
  },
});

const read = defineRoute({
  method: 'get',
  path: PATH,
  roles: ['agent', 'operator'],
  summary: 'Read a version of a compensation',
  answers: { 200: { description: 'The compensation, defaults filled in.', schema: compensationView } },
  refusals: ['not_found'],
  async handle(context) {
    const { caller, params, resources } = context;
    const name = compensationName.safeParse(params);
    if (!name.success) return refuse('not_found');
    const { fn_name: fnName, version } = name.data;
    const found = await readCompensation(resources.database, caller.orgId, fnName, version);
    if (!found) return refuse('not_found');
    const [shown] = await viewsOf([found], context);
    return answer(200, shown);
  },
});

export const compensationRoutes: readonly Route[] = [put, list, read];
