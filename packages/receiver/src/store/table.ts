/**
 * The tables of the receiver, to be created once in the vendor's own Postgres (13 or newer); running it again changes
 * nothing.
 *
 * A call is absent, in flight or complete. In flight without an end in sight: its lease runs out and the next call under
 * the key takes it over. A forward (the call that is to be undone) is recorded, cancelled or both.
 */
export const createTable = `
CREATE TABLE IF NOT EXISTS undolog_receiver_calls (
  scope text NOT NULL,
  key text NOT NULL,
  state text NOT NULL CHECK (state IN ('in_flight', 'complete')),
  body_sha256 text NOT NULL,
  -- Names the one call that may complete the key; drawn anew at each claim.
  holder uuid NOT NULL,
  claims integer NOT NULL DEFAULT 1,
  lease_expires_at timestamptz NOT NULL,
  status integer,
  body text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  completed_at timestamptz,
  PRIMARY KEY (scope, key),
  CHECK ((state = 'complete') = (completed_at IS NOT NULL) AND (state = 'complete') = (status IS NOT NULL))
);
CREATE TABLE IF NOT EXISTS undolog_receiver_forwards (
  scope text NOT NULL,
  effect_key text NOT NULL,
  recorded_at timestamptz,
  cancelled_at timestamptz,
  PRIMARY KEY (scope, effect_key),
  CHECK (recorded_at IS NOT NULL OR cancelled_at IS NOT NULL)
);`;
