/** The part of the first schema that belongs to an org as a whole, whatever its sessions do. */
export const TENANTS = `
CREATE TABLE undolog_orgs (
  org_id uuid PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE undolog_api_keys (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  key_id uuid NOT NULL,
  role text NOT NULL CHECK (role IN ('agent', 'operator', 'admin')),
  name text,
  secret_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz,
  PRIMARY KEY (key_id, org_id)
);

-- Who is signed in to the web page, until when. The cookie's token is kept as its hash.
CREATE TABLE undolog_dashboard_sessions (
  token_hash bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  org_id uuid NOT NULL,
  key_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  FOREIGN KEY (key_id, org_id) REFERENCES undolog_api_keys
);
CREATE INDEX undolog_dashboard_sessions_key ON undolog_dashboard_sessions (key_id, org_id, expires_at);
CREATE INDEX undolog_dashboard_sessions_age ON undolog_dashboard_sessions (expires_at);

-- A secret is never kept in the clear: what is sealed begins with the byte 1.
CREATE TABLE undolog_secrets (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  name text COLLATE "C" NOT NULL,
  value bytea NOT NULL CHECK (get_byte(value, 0) = 1),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, name)
);

CREATE TABLE undolog_signing_secrets (
  org_id uuid PRIMARY KEY REFERENCES undolog_orgs,
  secret bytea NOT NULL CHECK (get_byte(secret, 0) = 1),
  previous bytea CHECK (get_byte(previous, 0) = 1),
  previous_until timestamptz,
  CHECK ((previous IS NULL) = (previous_until IS NULL))
);

CREATE TABLE undolog_compensation_registry (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  fn_name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  spec bytea NOT NULL,
  body_hash bytea NOT NULL,
  max_retries integer NOT NULL CHECK (max_retries BETWEEN 0 AND 20),
  undo_deadline_seconds integer CHECK (undo_deadline_seconds >= 1),
  looks_up boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (org_id, fn_name, version)
);
-- For the sweep, which warns the orgs that have such windows.
CREATE INDEX undolog_compensation_registry_windows ON undolog_compensation_registry (org_id)
  WHERE undo_deadline_seconds IS NOT NULL;

-- A row per paused compensation; it holds for all versions.
CREATE TABLE undolog_paused_compensations (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  fn_name text COLLATE "C" NOT NULL,
  reason bytea NOT NULL,
  paused_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (fn_name, org_id)
);`;
