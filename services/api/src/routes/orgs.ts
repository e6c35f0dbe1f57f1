import type { RequestHandler } from 'express';
import { uuidv7 } from '@undolog/shared/runtime/clock';
import { createOrg, type NewOrg } from '@undolog/shared/store/create-org';
import type { Operation } from '@undolog/shared/store/operation';
import { createdOrg, createOrgBody } from '@undolog/shared/wire/orgs';
import { makeKey } from '../api-key.js';
import { answer } from '../reply.js';
import { defineRoute, type Caller } from '../route.js';

/** Orgs are made by the owner of the installation, who belongs to none of them. */
const INSTALLATION: Caller = { orgId: '00000000-0000-0000-0000-000000000000', keyId: 'admin-token', role: 'admin' };

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

/** Stands in for `authenticate` once the admin token was seen to be good. */
export const asInstallation: RequestHandler = (_request, response, next) => {
  response.locals['caller'] = INSTALLATION;
  next();
};
