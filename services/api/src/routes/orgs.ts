import { uuidv7 } from '@undolog/shared/runtime/clock';
import { createOrg, type NewOrg } from '@undolog/shared/store/create-org';
import type { Operation } from '@undolog/shared/store/operation';
import { createdOrg, createOrgBody } from '@undolog/shared/wire/orgs';
import { makeKey } from '../api-key.js';
import { answer } from '../reply.js';
import { defineRoute } from '../route.js';

const addOrg: Operation<NewOrg, void> = { name: 'create_org', run: (tx, _orgId, org) => createOrg(tx, org) };

export const createOrgRoute = defineRoute({
  method: 'post',
  path: '/v1/orgs',
  roles: [],
  summary: 'Make an org; needs the admin token',
  body: createOrgBody,
  answers: { 201: { description: 'The org and its first key, which is shown only now.', schema: createdOrg } },
  refusals: ['secret_already_shown'],
  async handle({ body, perform }) {
    const { apiKey, secretHash } = makeKey();
    const orgId = uuidv7();
    await perform(addOrg, { orgId, name: body.name, keyId: uuidv7(), secretHash });
    return answer(201, { org_id: orgId, api_key: apiKey }, { holdsSecret: true });
  },
});
