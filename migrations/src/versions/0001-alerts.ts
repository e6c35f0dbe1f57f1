/** Webhooks that orgs are alerted by, and what was sent to them; part of the first schema. */
export const ALERTS = `
CREATE TABLE undolog_webhooks (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  webhook_id uuid NOT NULL,
  -- Its address and its secret, sealed: an address may be a secret by itself.
  target bytea NOT NULL CHECK (get_byte(target, 0) = 1),
  description text,
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  state text NOT NULL DEFAULT 'enabled' CHECK (state IN ('enabled', 'disabled')),
  disabled_because text CHECK (disabled_because IN ('gone', 'failing')),
  -- Up to this place of the audit log everything is a delivery.
  read_xid xid8 NOT NULL,
  read_seq bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (webhook_id, org_id),
  CHECK ((state = 'disabled') = (disabled_because IS NOT NULL))
);
CREATE INDEX undolog_webhooks_org ON undolog_webhooks (org_id, created_at);

CREATE TABLE undolog_alert_deliveries (
  org_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  -- The entry of the audit log that it tells of; NULL: a test.
  xid xid8,
  seq bigint,
  event text NOT NULL,
  -- The same text on every try.
  body text NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  tries jsonb NOT NULL DEFAULT '[]',
  next_attempt_at timestamptz DEFAULT clock_timestamp(),
  claimed_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (delivery_id, org_id),
  FOREIGN KEY (webhook_id, org_id) REFERENCES undolog_webhooks ON DELETE CASCADE,
  UNIQUE (webhook_id, org_id, xid, seq),
  CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
  CHECK (state = 'pending' OR claimed_until IS NULL)
);
CREATE INDEX undolog_alert_deliveries_due ON undolog_alert_deliveries (next_attempt_at) WHERE state = 'pending';
CREATE INDEX undolog_alert_deliveries_newest ON undolog_alert_deliveries (webhook_id, org_id, created_at DESC, delivery_id DESC);
CREATE INDEX undolog_alert_deliveries_age ON undolog_alert_deliveries (created_at);`;
