import { randomBytes } from 'node:crypto';
import { TEST_EVENT } from '@undolog/shared/domain/alerts';
import { nowDate, uuidv7 } from '@undolog/shared/runtime/clock';
import { addDelivery, listDeliveries, redeliver } from '@undolog/shared/store/alert-deliveries';
import { createWebhook, deleteWebhook, enableWebhook, listWebhooks, readWebhook } from '@undolog/shared/store/webhooks';
import { page, whole } from '@undolog/shared/wire/paging';
import { emptyBody } from '@undolog/shared/wire/sessions';
import {
  createdWebhook,
  createWebhookBody,
  deliveryView,
  listDeliveriesQuery,
  queuedDelivery,
  webhookView,
} from '@undolog/shared/wire/webhooks';
import { answer, noContent, refuse } from '../reply.js';
import { defineRoute, type Route } from '../route.js';
import { cutPage, isTimestamp, isUuid, readCursor } from './cursor.js';

const PATH = '/v1/webhooks/{webhook_id}';
const SECRET_BYTES = 32;

const create = defineRoute({
  method: 'post',
  path: '/v1/webhooks',
  roles: [],
  summary: 'Have what happens told to an address of yours',
  body: createWebhookBody,
  answers: { 201: { description: 'The webhook, with the secret that signs it.', schema: createdWebhook } },
  refusals: ['url_not_allowed', 'encryption_key_required', 'secret_already_shown'],
  async handle({ body, caller, perform, resources }) {
    if (!resources.database.vault.hasKey) return refuse('encryption_key_required');
    const fault = await resources.faultOfUrl(body.url);
    if (fault) return refuse('url_not_allowed', fault, { errors: [{ path: '/url', message: fault }] });
    const webhookId = uuidv7();
    const secret = body.secret ?? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    const { url, events, description = null } = body;
    await perform(createWebhook, { webhookId, url, secret, events, description, actor: caller.keyId });
    const made = { webhook_id: webhookId, url, description, events, state: 'enabled', disabled_because: null };
    return answer(201, { ...made, created_at: nowDate().toISOString(), secret }, { holdsSecret: true });
  },
});

const list = defineRoute({
  method: 'get',
  path: '/v1/webhooks',
  roles: ['operator'],
  summary: 'List webhooks',
  answers: { 200: { description: 'The webhooks, without their secrets.', schema: whole(webhookView) } },
  refusals: ['encryption_key_missing'],
  async handle({ caller, resources }) {
    return answer(200, { data: await listWebhooks(resources.database, caller.orgId) });
  },
});

const read = defineRoute({
  method: 'get',
  path: PATH,
  roles: ['operator'],
  summary: 'Read a webhook',
  answers: { 200: { description: 'The webhook.', schema: webhookView } },
  refusals: ['not_found', 'encryption_key_missing'],
  async handle({ caller, params, resources }) {
    const webhook = await readWebhook(resources.database, caller.orgId, params['webhook_id']!);
    return webhook ? answer(200, webhook) : refuse('not_found');
  },
});

const remove = defineRoute({
  method: 'delete',
  path: PATH,
  roles: [],
  summary: 'End a webhook, with all that was still to be sent',
  answers: { 204: { description: 'It is gone.' } },
  refusals: ['not_found'],
  async handle({ caller, params, perform }) {
    const { done } = await perform(deleteWebhook, { webhookId: params['webhook_id']!, actor: caller.keyId });
    return done ? noContent() : refuse('not_found');
  },
});

const enable = defineRoute({
  method: 'post',
  path: `${PATH}/enable`,
  roles: ['operator'],
  summary: 'Go on with a webhook that was disabled',
  body: emptyBody,
  bodyOptional: true,
  answers: { 200: { description: 'It is enabled.', schema: webhookView } },
  refusals: ['not_found'],
  async handle({ caller, params, perform, resources }) {
    const webhookId = params['webhook_id']!;
    const { done } = await perform(enableWebhook, { webhookId, actor: caller.keyId });
    const webhook = done ? await readWebhook(resources.database, caller.orgId, webhookId) : undefined;
    return webhook ? answer(200, { ...webhook, state: 'enabled', disabled_because: null }) : refuse('not_found');
  },
});

const deliveries = defineRoute({
  method: 'get',
  path: `${PATH}/deliveries`,
  roles: ['operator'],
  summary: 'List what was sent to a webhook, or is to be, newest first',
  query: listDeliveriesQuery,
  answers: { 200: { description: 'A page of deliveries, each with its tries.', schema: page(deliveryView) } },
  refusals: ['invalid_cursor'],
  async handle({ caller, params, query, resources }) {
    const cursor = readCursor(query.cursor, isTimestamp, isUuid);
    if ('refused' in cursor) return cursor.refused;
    const after = cursor.values && { createdAt: cursor.values[0], deliveryId: cursor.values[1] };
    const webhookId = params['webhook_id']!;
    const rows = await listDeliveries(resources.database, caller.orgId, webhookId, { limit: query.limit + 1, after });
    return answer(
      200,
      cutPage(rows, query.limit, (last) => [last.created_at, last.delivery_id]),
    );
  },
});

const queued = { 202: { description: 'It is sent soon.', schema: queuedDelivery } };

const test = defineRoute({
  method: 'post',
  path: `${PATH}/test`,
  roles: ['operator'],
  summary: 'Send a test to a webhook',
  body: emptyBody,
  bodyOptional: true,
  answers: queued,
  refusals: ['not_found'],
  async handle({ caller, params, resources }) {
    const deliveryId = uuidv7();
    const body = JSON.stringify({ type: TEST_EVENT, timestamp: nowDate().toISOString(), data: {} });
    const alert = { webhookId: params['webhook_id']!, deliveryId, event: TEST_EVENT, body };
    const added = await addDelivery(resources.database, caller.orgId, alert);
    return added ? answer(202, { delivery_id: deliveryId }) : refuse('not_found');
  },
});

const again = defineRoute({
  method: 'post',
  path: `${PATH}/deliveries/{delivery_id}/redeliver`,
  roles: ['operator'],
  summary: 'Send a delivery once more, under the same webhook-id',
  body: emptyBody,
  bodyOptional: true,
  answers: queued,
  refusals: ['not_found'],
  async handle({ caller, params, resources }) {
    const { webhook_id: webhookId, delivery_id: deliveryId } = params;
    const found = await redeliver(resources.database, caller.orgId, webhookId!, deliveryId!);
    return found ? answer(202, { delivery_id: deliveryId }) : refuse('not_found');
  },
});

export const webhookRoutes: readonly Route[] = [create, list, read, remove, enable, deliveries, test, again];
