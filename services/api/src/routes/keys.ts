import { uuidv7 } from '@undolog/shared/runtime/clock';
import { createKey, listKeys, readKey, revokeKey, type NewKey } from '@undolog/shared/store/api-keys';
import type { Operation } from '@undolog/shared/store/operation';
import { callerView, createdKey, createKeyBody, keyView } from '@undolog/shared/wire/keys';
import { whole } from '@undolog/shared/wire/paging';
import { makeKey } from '../api-key.js';
import { answer, noContent, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

const addKey: Operation<NewKey, void> = { name: 'create_key', run: createKey };
const dropKey: Operation<string, boolean> = { name: 'revoke_key', run: revokeKey };

const create = defineRoute({
  method: 'post',
  path: '/v1/keys',
  roles: [],
  summary: 'Make an API key',
  body: createKeyBody,
  answers: { 201: { description: 'The key, with its secret, which is shown only now.', schema: createdKey } },
  refusals: ['secret_already_shown'],
  async handle({ body, perform }) {
    const { apiKey, secretHash } = makeKey();
    const keyId = uuidv7();
    await perform(addKey, { keyId, role: body.role, name: body.name ?? null, secretHash });
    return answer(201, { key_id: keyId, role: body.role, api_key: apiKey }, { holdsSecret: true });
  },
});

const list = defineRoute({
  method: 'get',
  path: '/v1/keys',
  roles: ['operator'],
  summary: 'List the API keys that are good, without their secrets',
  answers: { 200: { description: 'The keys, newest first.', schema: whole(keyView) } },
  refusals: [],
  async handle({ caller, resources }) {
    return answer(200, { data: await listKeys(resources.database, caller.orgId) });
  },
});

const revoke = defineRoute({
  method: 'delete',
  path: '/v1/keys/{key_id}',
  roles: [],
  summary: 'Revoke an API key; its next use is refused',
  answers: { 204: { description: 'Revoked.' } },
  refusals: ['not_found'],
  async handle({ params, perform }) {
    return (await perform(dropKey, params['key_id']!)) ? noContent() : refuse('not_found');
  },
});

const whoami = defineRoute({
  method: 'get',
  path: '/v1/whoami',
  roles: ['agent', 'operator'],
  summary: 'Tell which key this is, and what it may do',
  answers: { 200: { description: 'The key that the request came with.', schema: callerView } },
  refusals: ['not_found'],
  async handle({ caller, resources }) {
    const key = await readKey(resources.database, caller.orgId, caller.keyId);
    return key ? answer(200, { org_id: caller.orgId, ...key }) : refuse('not_found');
  },
});

export const keyRoutes: readonly Route[] = [whoami, create, list, revoke];
