import { z } from 'zod';
import { ALERT_EVENTS, DELIVERY_STATES, DISABLED_BECAUSE, WEBHOOK_STATES } from '../domain/alerts.js';
import { MAX_URL_CHARS } from '../domain/limits.js';
import { isSigningSecret } from '../domain/secret-rules.js';
import type { RequestBody } from './json-member.js';
import { pageQuery } from './paging.js';
import { nameText, timestamp, uuid } from './text.js';

const createWebhook = z
  .strictObject({
    url: z.string().min(1).max(MAX_URL_CHARS).meta({ description: 'Where alerts are POSTed to.' }),
    events: z
      .array(z.enum(ALERT_EVENTS))
      .min(1)
      .default([...ALERT_EVENTS])
      .meta({ description: 'What to tell; by default all.' }),
    description: nameText('What people call it.').optional(),
    secret: z
      .string()
      .refine(isSigningSecret, 'must be whsec_ and 24 to 64 bytes in base64')
      .optional()
      .meta({ description: 'What signs the alerts; by default a new one.' }),
  })
  .meta({ id: 'CreateWebhook' });

export const createWebhookBody = { schema: createWebhook, raw: {} } satisfies RequestBody;

export const webhookView = z
  .object({
    webhook_id: uuid,
    url: z.string(),
    description: z.string().nullable(),
    events: z.array(z.enum(ALERT_EVENTS)),
    state: z.enum(WEBHOOK_STATES),
    disabled_because: z
      .enum(DISABLED_BECAUSE)
      .nullable()
      .meta({ description: '`gone`: it answered 410. `failing`: it took nothing for three days.' }),
    created_at: timestamp,
  })
  .meta({ id: 'Webhook' });

export const createdWebhook = webhookView
  .extend({ secret: z.string().meta({ description: 'Shown once.' }) })
  .meta({ id: 'CreatedWebhook' });

export const listDeliveriesQuery = z.strictObject(pageQuery);

export const deliveryView = z
  .object({
    delivery_id: uuid.meta({ description: 'Also its `webhook-id`.' }),
    event: z.string(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.array(
      z.object({
        at: timestamp,
        status: z.int().nullable(),
        error: z.string().nullable(),
        duration_ms: z.number(),
      }),
    ),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'AlertDelivery' });

export const queuedDelivery = z.object({ delivery_id: uuid }).meta({ id: 'QueuedDelivery' });
