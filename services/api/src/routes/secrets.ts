import { putSecret } from '@undolog/shared/store/put-secret';
import { putSigningSecret } from '@undolog/shared/store/put-signing-secret';
import { listSecrets } from '@undolog/shared/store/read-secrets';
import { whole } from '@undolog/shared/wire/paging';
import { putSecretBody, putSigningSecretBody, secretName, secretView } from '@undolog/shared/wire/secrets';
import { answer, badRequest, noContent, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';

const put = defineRoute({
  method: 'put',
  path: '/v1/secrets/{name}',
  roles: [],
  summary: 'Set or replace a secret that compensations send in a header',
  body: putSecretBody,
  answers: { 204: { description: 'Kept, encrypted. It can never be read again.' } },
  refusals: ['encryption_key_required'],
  async handle({ body, caller, params, perform, resources }) {
    const name = secretName.safeParse(params['name']);
    if (!name.success) return badRequest('/name', `the name ${name.error.issues[0]!.message}`);
    if (!resources.database.vault.hasKey) return refuse('encryption_key_required');
    await perform(putSecret, { name: name.data, value: body.value, actor: caller.keyId });
    return noContent();
  },
});

const list = defineRoute({
  method: 'get',
  path: '/v1/secrets',
  roles: ['operator'],
  summary: 'List the names of the secrets, never their values',
  answers: { 200: { description: 'The names, in order.', schema: whole(secretView) } },
  refusals: [],
  async handle({ caller, resources }) {
    return answer(200, { data: await listSecrets(resources.database, caller.orgId) });
  },
});

const putSigning = defineRoute({
  method: 'put',
  path: '/v1/signing-secret',
  roles: [],
  summary: 'Set or replace the secret that signs the calls of compensations',
  body: putSigningSecretBody,
  answers: { 204: { description: 'Kept, encrypted. The one before goes on signing beside it for 24 hours.' } },
  refusals: ['encryption_key_required'],
  async handle({ body, caller, perform, resources }) {
    if (!resources.database.vault.hasKey) return refuse('encryption_key_required');
    await perform(putSigningSecret, { secret: body.secret, actor: caller.keyId });
    return noContent();
  },
});

export const secretRoutes: readonly Route[] = [put, list, putSigning];
