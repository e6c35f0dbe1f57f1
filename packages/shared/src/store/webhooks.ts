import type { AlertEvent, DisabledBecause } from '../domain/alerts.js';
import { exactValue } from '../domain/exact-value.js';
import { JsonText, nodeOf } from '../domain/json-text.js';
import type { Place, Vault } from '../domain/vault.js';
import type { Tx } from './database.js';
import type { Operation } from './operation.js';
import { sealJson, unsealJson } from './sealed-json.js';

/** Where alerts go, and what signs them. */
export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

export interface WebhookView {
  readonly webhook_id: string;
  readonly url: string;
  readonly description: string | null;
  readonly events: readonly AlertEvent[];
  readonly state: 'enabled' | 'disabled';
  readonly disabled_because: DisabledBecause | null;
  readonly created_at: string;
}

function placeOfTarget(orgId: string, webhookId: string): Place {
  return { orgId, column: 'webhook', row: webhookId };
}

/** @throws {UnreadableValue} when the key is not here. */
export function readTarget(vault: Vault, orgId: string, webhookId: string, target: Uint8Array): WebhookTarget {
  const text = unsealJson(vault, placeOfTarget(orgId, webhookId), target);
  return exactValue(nodeOf(text)) as unknown as WebhookTarget;
}

export interface CreateWebhook extends WebhookTarget {
  readonly webhookId: string;
  readonly events: readonly AlertEvent[];
  readonly description: string | null;
  readonly actor: string;
}

// What happens from now on is told; what no transaction before this one can still bring in was there before.
const CREATE = `
WITH created AS (
  INSERT INTO undolog_webhooks (org_id, webhook_id, target, description, events, read_xid, read_seq)
  VALUES ($1, $2, $3, $4, $5, pg_snapshot_xmin(pg_current_snapshot()), 0)
)
INSERT INTO undolog_audit_log (org_id, actor, action) VALUES ($1, $6, 'webhook.created')`;

export const createWebhook: Operation<CreateWebhook, void> = {
  name: 'create_webhook',
  async run(tx, orgId, { webhookId, url, secret, events, description, actor }) {
    const target = sealJson(tx.vault, placeOfTarget(orgId, webhookId), new JsonText(JSON.stringify({ url, secret })));
    await tx.query({ text: CREATE, values: [orgId, webhookId, target, description, events, actor] });
  },
};

interface Row extends Omit<WebhookView, 'url'> {
  target: Buffer;
}

const COLUMNS = `
SELECT webhook_id, target, description, events, state, disabled_because, created_at
FROM undolog_webhooks WHERE org_id = $1`;

function viewOf(vault: Vault, orgId: string, { target, ...row }: Row): WebhookView {
  return { ...row, url: readTarget(vault, orgId, row.webhook_id, target).url };
}

export async function listWebhooks(tx: Tx, orgId: string): Promise<WebhookView[]> {
  const rows = await tx.query<Row>({ text: `${COLUMNS} ORDER BY created_at, webhook_id`, values: [orgId] });
  return rows.map((row) => viewOf(tx.vault, orgId, row));
}

export async function readWebhook(tx: Tx, orgId: string, webhookId: string): Promise<WebhookView | undefined> {
  const [row] = await tx.query<Row>({ text: `${COLUMNS} AND webhook_id = $2`, values: [orgId, webhookId] });
  return row && viewOf(tx.vault, orgId, row);
}

export interface ChangeWebhook {
  readonly webhookId: string;
  readonly actor: string;
}

/** A change of one webhook, audited; `done`: false when there is no such webhook. */
function changeOf(name: string, change: string): Operation<ChangeWebhook, { readonly done: boolean }> {
  const text = `
WITH changed AS (${change} WHERE org_id = $1 AND webhook_id = $2 RETURNING 1)
INSERT INTO undolog_audit_log (org_id, actor, action) SELECT $1, $3, 'webhook.${name}' FROM changed RETURNING 1`;
  return {
    name: `webhook_${name}`,
    async run(tx, orgId, { webhookId, actor }) {
      return { done: (await tx.query({ text, values: [orgId, webhookId, actor] })).length > 0 };
    },
  };
}

/** With what was sent to it, and what was still to be. */
export const deleteWebhook = changeOf('deleted', 'DELETE FROM undolog_webhooks');

export const enableWebhook = changeOf(
  'enabled',
  `UPDATE undolog_webhooks SET state = 'enabled', disabled_because = NULL`,
);
