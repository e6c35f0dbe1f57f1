import type { AlertOutcome, DeliveryState } from '../domain/alerts.js';
import { UnreadableValue } from '../domain/vault.js';
import type { Database, Tx } from './database.js';
import { readTarget, type WebhookTarget } from './webhooks.js';
import type { DueAlert } from './write-alerts.js';

/** Deliveries whose time has come and that nobody has in hand, the longest due first. */
export async function findDueAlerts(tx: Tx, limit: number): Promise<DueAlert[]> {
  const rows = await tx.query<{ org_id: string; delivery_id: string }>({
    name: 'find_due_alerts',
    text: `SELECT d.org_id, d.delivery_id FROM undolog_alert_deliveries d
      WHERE d.state = 'pending' AND d.next_attempt_at <= clock_timestamp()
        AND (d.claimed_until IS NULL OR d.claimed_until < clock_timestamp())
      ORDER BY d.next_attempt_at LIMIT $1`,
    values: [limit],
  });
  return rows.map((row) => ({ orgId: row.org_id, deliveryId: row.delivery_id }));
}

export type ClaimedAlert =
  | {
      readonly outcome: 'claimed';
      readonly webhookId: string;
      readonly body: string;
      /** From 1; it is also the fence of this claim. */
      readonly attempt: number;
      /** Undefined: it can't be read in this process. */
      readonly target: WebhookTarget | undefined;
    }
  | { readonly outcome: 'not_now' };

// A receiver that is slow holds this many workers and no more.
const CLAIM = `
UPDATE undolog_alert_deliveries d SET attempts = d.attempts + 1,
  claimed_until = clock_timestamp() + $3 * interval '1 millisecond'
FROM undolog_webhooks w
WHERE d.org_id = $1 AND d.delivery_id = $2 AND d.state = 'pending' AND d.next_attempt_at <= clock_timestamp()
  AND (d.claimed_until IS NULL OR d.claimed_until < clock_timestamp())
  AND w.org_id = d.org_id AND w.webhook_id = d.webhook_id AND w.state = 'enabled'
  AND (SELECT count(*) FROM undolog_alert_deliveries o
    WHERE o.state = 'pending' AND o.org_id = d.org_id AND o.webhook_id = d.webhook_id
      AND o.claimed_until > clock_timestamp()) < $4
RETURNING d.webhook_id, d.body, d.attempts, w.target`;

export async function claimAlert(
  tx: Tx,
  { orgId, deliveryId }: DueAlert,
  limits: { readonly leaseMs: number; readonly perWebhook: number },
): Promise<ClaimedAlert> {
  const [row] = await tx.query<{ webhook_id: string; body: string; attempts: number; target: Buffer }>({
    name: 'claim_alert',
    text: CLAIM,
    values: [orgId, deliveryId, limits.leaseMs, limits.perWebhook],
  });
  if (!row) return { outcome: 'not_now' };
  const claimed = { outcome: 'claimed', webhookId: row.webhook_id, body: row.body, attempt: row.attempts } as const;
  try {
    return { ...claimed, target: readTarget(tx.vault, orgId, row.webhook_id, row.target) };
  } catch (error) {
    if (error instanceof UnreadableValue) return { ...claimed, target: undefined };
    throw error;
  }
}

export interface AlertTry {
  readonly attempt: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly outcome: AlertOutcome;
}

const SETTLE = `
WITH settled AS (
  UPDATE undolog_alert_deliveries SET
    state = CASE $4 WHEN 'delivered' THEN 'delivered' WHEN 'retry' THEN 'pending' ELSE 'failed' END,
    next_attempt_at = CASE $4 WHEN 'retry' THEN clock_timestamp() + $5 * interval '1 millisecond' END,
    claimed_until = NULL,
    tries = tries || jsonb_build_array(jsonb_build_object(
      'at', clock_timestamp(), 'status', $7::int, 'error', $8::text, 'duration_ms', $9::float8))
  WHERE org_id = $1 AND delivery_id = $2 AND attempts = $3 AND state = 'pending'
  RETURNING webhook_id
), disabled AS (
  UPDATE undolog_webhooks w SET state = 'disabled', disabled_because = $6
  FROM settled s WHERE $6::text IS NOT NULL AND w.org_id = $1 AND w.webhook_id = s.webhook_id AND w.state = 'enabled'
  RETURNING w.org_id
)
INSERT INTO undolog_audit_log (org_id, actor, action) SELECT org_id, 'undolog', 'webhook.disabled' FROM disabled`;

/** Writes what became of a try. The number of the try is its fence: one that came too late changes nothing. */
export async function settleAlert(tx: Tx, { orgId, deliveryId }: DueAlert, seen: AlertTry): Promise<void> {
  const { attempt, status, error, durationMs, outcome } = seen;
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : null;
  const because = outcome.kind === 'given_up' ? outcome.because : null;
  const values = [orgId, deliveryId, attempt, outcome.kind, delayMs, because, status, error, durationMs];
  await tx.query({ name: 'settle_alert', text: SETTLE, values });
}

export interface DeliveryView {
  readonly delivery_id: string;
  readonly event: string;
  readonly state: DeliveryState;
  readonly attempts: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly error: string | null;
    readonly duration_ms: number;
  }[];
  readonly next_attempt_at: string | null;
  readonly created_at: string;
}

/** What was sent to a webhook, or is to be, newest first. */
export function listDeliveries(
  tx: Tx,
  orgId: string,
  webhookId: string,
  page: {
    readonly limit: number;
    readonly after?: { readonly createdAt: string; readonly deliveryId: string } | undefined;
  },
): Promise<DeliveryView[]> {
  return tx.query<DeliveryView>({
    name: 'list_deliveries',
    text: `SELECT delivery_id, event, state, tries AS attempts, next_attempt_at, created_at
      FROM undolog_alert_deliveries WHERE org_id = $1 AND webhook_id = $2
        AND ($3::timestamptz IS NULL OR (created_at, delivery_id) < ($3, $4::uuid))
      ORDER BY created_at DESC, delivery_id DESC LIMIT $5`,
    values: [orgId, webhookId, page.after?.createdAt ?? null, page.after?.deliveryId ?? null, page.limit],
  });
}

/** Puts a body that is no news into the queue of a webhook. @returns false when there is no such webhook. */
export async function addDelivery(
  tx: Tx,
  orgId: string,
  alert: { readonly webhookId: string; readonly deliveryId: string; readonly event: string; readonly body: string },
): Promise<boolean> {
  const rows = await tx.query({
    text: `INSERT INTO undolog_alert_deliveries (org_id, delivery_id, webhook_id, event, body)
      SELECT org_id, $3, webhook_id, $4, $5 FROM undolog_webhooks WHERE org_id = $1 AND webhook_id = $2 RETURNING 1`,
    values: [orgId, alert.webhookId, alert.deliveryId, alert.event, alert.body],
  });
  return rows.length > 0;
}

/** Sends a delivery once more, whatever became of it. @returns false when there is none such. */
export async function redeliver(tx: Tx, orgId: string, webhookId: string, deliveryId: string): Promise<boolean> {
  const rows = await tx.query({
    text: `UPDATE undolog_alert_deliveries SET state = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), claimed_until = NULL
      WHERE org_id = $1 AND webhook_id = $2 AND delivery_id = $3 RETURNING 1`,
    values: [orgId, webhookId, deliveryId],
  });
  return rows.length > 0;
}

/** @returns how many are gone. */
export async function forgetDeliveries(database: Database, days: number, limit: number): Promise<number> {
  const rows = await database.query({
    name: 'forget_deliveries',
    text: `DELETE FROM undolog_alert_deliveries d USING (
        SELECT org_id, delivery_id FROM undolog_alert_deliveries
        WHERE created_at < now() - $1 * interval '1 day' AND state <> 'pending' ORDER BY created_at LIMIT $2
      ) old WHERE d.org_id = old.org_id AND d.delivery_id = old.delivery_id RETURNING 1`,
    values: [days, limit],
  });
  return rows.length;
}
