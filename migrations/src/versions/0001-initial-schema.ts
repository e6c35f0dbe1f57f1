import type { Knex } from 'knex';
import { ALERTS } from './0001-alerts.js';
import { AUDIT } from './0001-audit.js';
import { TENANTS } from './0001-tenants.js';

/**
 * The first schema. The database holds the same law as `domain/states.ts`: CHECKs name the states and pair each with
 * its columns, keys carry `org_id`, and an effect that needs an undo entry can't be committed without one.
 *
 * Every key holds `org_id`, but none that serves a look-up starts with it: an index that does can be entered by the org
 * alone, which reads the org's whole history, and on small tables the planner finds that no worse than the right one.
 *
 * Rows that an unwind updates leave room on their page (fillfactor) and no index names a column that an unwind writes,
 * so that those updates stay heap-only.
 */
const SESSIONS = `
CREATE TABLE undolog_sessions (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  session_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN
    ('active', 'completed', 'failed', 'compensating', 'compensated', 'halted', 'resolved')),
  agent_name text,
  external_run_id text,
  metadata bytea,
  on_compensation_failure text NOT NULL CHECK (on_compensation_failure IN ('halt', 'continue')),
  body_hash bytea NOT NULL,
  lease_seconds integer NOT NULL CHECK (lease_seconds BETWEEN 0 AND 86400),
  max_age_seconds integer NOT NULL CHECK (max_age_seconds >= 0),
  lease_expires_at timestamptz,
  rollback_to integer CHECK (rollback_to >= -1),
  -- The only entry that may run. It moves down as entries settle; nothing else decides the order.
  top_undo_id uuid,
  -- Or the only child that may be undone, in place of an entry.
  awaited_child_id text COLLATE "C",
  -- The child is undone just before the parent's entry at this position.
  parent_session_id text COLLATE "C",
  parent_position integer CHECK (parent_position >= 0),
  has_children boolean NOT NULL DEFAULT false,
  -- Children are part of a rollback, but not of undoing one late entry of an earlier one.
  rolls_back_children boolean NOT NULL DEFAULT false,
  -- No entry above this position waits; keeps the search for the next one short on deep stacks.
  unwind_from integer,
  failure_reason bytea,
  failure_kind text CHECK (failure_kind IN ('reported', 'lease_expired', 'cancelled', 'parent')),
  failure_effect_id uuid,
  failed_at timestamptz,
  -- What was said in it was erased; nothing of it can be undone from then on.
  data_erased_at timestamptz,
  -- When the sweep looks at an unwinding session again, to rebuild a wake-up call that was lost.
  wake_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (session_id, org_id),
  CHECK ((failed_at IS NULL) = (failure_kind IS NULL) AND (failed_at IS NULL) = (failure_reason IS NULL)),
  CHECK (state IN ('active', 'completed') OR failed_at IS NOT NULL OR rollback_to IS NOT NULL),
  CHECK (data_erased_at IS NULL OR state IN ('completed', 'compensated', 'resolved')),
  CHECK (state <> 'active' OR failed_at IS NULL),
  CHECK (state = 'active' OR lease_expires_at IS NULL),
  CHECK ((state IN ('failed', 'compensating')) = (wake_at IS NOT NULL)),
  CHECK (top_undo_id IS NULL OR state IN ('failed', 'compensating')),
  CHECK (awaited_child_id IS NULL OR (state = 'compensating' AND top_undo_id IS NULL)),
  CHECK ((parent_session_id IS NULL) = (parent_position IS NULL) AND parent_session_id <> session_id)
) WITH (fillfactor = 70);
CREATE INDEX undolog_sessions_newest ON undolog_sessions (org_id, created_at DESC, session_id DESC);
CREATE INDEX undolog_sessions_expiring ON undolog_sessions (lease_expires_at)
  WHERE state = 'active' AND lease_expires_at IS NOT NULL;
CREATE INDEX undolog_sessions_children ON undolog_sessions (parent_session_id, org_id, parent_position)
  WHERE parent_session_id IS NOT NULL;
-- A run's id never changes; sessions without one are not in it.
CREATE INDEX undolog_sessions_run ON undolog_sessions (external_run_id, org_id) WHERE external_run_id IS NOT NULL;
CREATE INDEX undolog_sessions_waking ON undolog_sessions (wake_at) WHERE wake_at IS NOT NULL;`;

const STACK = `
CREATE TABLE undolog_undo_stack (
  org_id uuid NOT NULL,
  undo_id uuid NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  effect_id uuid NOT NULL,
  stack_position integer NOT NULL CHECK (stack_position >= 0),
  generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
  state text NOT NULL CHECK (state IN
    ('pending', 'active', 'running', 'compensated', 'failed', 'unconfirmed', 'skipped')),
  -- An irreversible effect keeps its place here with no compensation.
  fn_name text COLLATE "C",
  version text COLLATE "C",
  args bytea,
  needs_result boolean NOT NULL DEFAULT false,
  max_retries integer,
  -- Every claim raises the fence; a write that names an older one changes nothing.
  fence bigint NOT NULL DEFAULT 0,
  claimed_until timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  round_attempts integer NOT NULL DEFAULT 0,
  attempt_open boolean NOT NULL DEFAULT false,
  saw_unknown boolean NOT NULL DEFAULT false,
  next_attempt_at timestamptz,
  -- Of the last 500 of this round: the same body again comes from the vendor's store.
  answer_hash bytea,
  -- What the entry's next step goes on from. Set with the vendor's "done": from then on it is only asked, never called.
  confirm_until timestamptz,
  confirm_url text,
  absent_since timestamptz,
  failed_lookups integer NOT NULL DEFAULT 0,
  -- Workers lost in a row while they asked; such a step is no attempt, so it has no other bound.
  lost_askers integer NOT NULL DEFAULT 0,
  -- When a worker looks for an effect that its caller reported as unknown while the session goes on.
  look_at timestamptz,
  -- What a lookup found in place of a report; every try of this entry is bound to it.
  found_result bytea,
  proof text CHECK (proof IN ('confirmed', 'answered')),
  reason bytea,
  code text,
  registered_at timestamptz NOT NULL DEFAULT now(),
  compensated_at timestamptz,
  superseded_by uuid,
  -- A success report came while a try was in flight: the entry that takes over once that try is settled.
  successor_id uuid,
  -- Somebody was told that the vendor's window for this undo is about to close.
  deadline_warned boolean NOT NULL DEFAULT false,
  PRIMARY KEY (undo_id, org_id),
  FOREIGN KEY (session_id, org_id) REFERENCES undolog_sessions,
  CHECK ((fn_name IS NULL) = (version IS NULL) AND (fn_name IS NULL) = (args IS NULL)
    AND (fn_name IS NULL) = (max_retries IS NULL)),
  CHECK ((state = 'compensated') = (compensated_at IS NOT NULL) AND (state = 'compensated') = (proof IS NOT NULL)),
  CHECK (state NOT IN ('failed', 'unconfirmed') OR code IS NOT NULL),
  CHECK (state <> 'skipped' OR reason IS NOT NULL),
  CHECK (state = 'running' OR (claimed_until IS NULL AND NOT attempt_open AND confirm_until IS NULL)),
  CHECK (confirm_url IS NULL OR confirm_until IS NOT NULL),
  CHECK (state NOT IN ('running', 'compensated', 'failed') OR fn_name IS NOT NULL),
  CHECK (round_attempts <= attempts)
) WITH (fillfactor = 70);
-- One entry per position that is not superseded. Not partial, so that it also serves the check that a session which is
-- deleted has no entries left.
CREATE UNIQUE INDEX undolog_undo_stack_order ON undolog_undo_stack (session_id, org_id, stack_position, superseded_by)
  NULLS NOT DISTINCT;
CREATE INDEX undolog_undo_stack_looking ON undolog_undo_stack (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE undolog_effect_log (
  org_id uuid NOT NULL,
  effect_id uuid NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  undo_id uuid,
  stack_position integer NOT NULL CHECK (stack_position >= 0),
  tool_name text NOT NULL,
  effect_class text NOT NULL CHECK (effect_class IN ('compensable', 'irreversible', 'safe')),
  state text NOT NULL CHECK (state IN ('pending', 'executing', 'committed', 'failed', 'compensating', 'compensated',
    'compensation_failed', 'compensation_unconfirmed')),
  call_id text COLLATE "C",
  body_hash bytea,
  args bytea NOT NULL,
  result bytea,
  error bytea,
  -- What the tool itself reported when it did not report success.
  reported text CHECK (reported IN ('not_applied', 'unknown')),
  committed_late boolean NOT NULL DEFAULT false,
  -- Its session was rolled back below it: it is undone, and whatever is reported of it from then on is late.
  rolled_back boolean NOT NULL DEFAULT false,
  call_timeout_ms integer NOT NULL DEFAULT 0 CHECK (call_timeout_ms BETWEEN 0 AND 3600000),
  traceparent text,
  registered_at timestamptz NOT NULL DEFAULT now(),
  executed_at timestamptz,
  committed_at timestamptz,
  PRIMARY KEY (effect_id, org_id),
  FOREIGN KEY (session_id, org_id) REFERENCES undolog_sessions,
  FOREIGN KEY (undo_id, org_id) REFERENCES undolog_undo_stack DEFERRABLE INITIALLY DEFERRED,
  CHECK (registered_at < executed_at),
  CHECK (state = 'pending' OR executed_at IS NOT NULL),
  CHECK (state <> 'committed' OR committed_at IS NOT NULL),
  CHECK ((effect_class = 'safe') = (undo_id IS NULL)),
  CHECK (result IS NULL OR committed_at IS NOT NULL)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX undolog_effect_log_position ON undolog_effect_log (session_id, org_id, stack_position);
-- Only for the check that an entry which is deleted has no effect left; see ADR 18.
CREATE INDEX undolog_effect_log_undo ON undolog_effect_log (undo_id, org_id);
CREATE UNIQUE INDEX undolog_effect_log_call ON undolog_effect_log (session_id, org_id, call_id)
  WHERE call_id IS NOT NULL;

CREATE TABLE undolog_attempts (
  org_id uuid NOT NULL,
  undo_id uuid NOT NULL,
  attempt integer NOT NULL CHECK (attempt >= 1),
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  status integer,
  outcome text CHECK (outcome IN ('done', 'refused', 'retry', 'unknown')),
  error text,
  duration_ms double precision,
  PRIMARY KEY (undo_id, attempt, org_id)
) WITH (fillfactor = 80);`;

const DEAD_LETTERS = `
CREATE TABLE undolog_dead_letters (
  org_id uuid NOT NULL,
  dead_letter_id uuid NOT NULL,
  session_id text COLLATE "C" NOT NULL,
  -- The broken entry, or else the child that is halted.
  undo_id uuid,
  child_session_id text COLLATE "C",
  state text NOT NULL CHECK (state IN ('open', 'closed')),
  code text NOT NULL,
  halted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Raised whenever the letter changes, so that a person acts on what was seen.
  version integer NOT NULL DEFAULT 1,
  closed_at timestamptz,
  closed_by text,
  closed_as text CHECK (closed_as IN ('retry', 'skip', 'resolve', 'confirm', 'rollback_abandoned')),
  -- What the person gave with it, as JSON.
  closing_reason bytea,
  evidence bytea,
  -- When its job reached the dead-letter queue; the sweep announces those that are still NULL.
  announced_at timestamptz,
  PRIMARY KEY (dead_letter_id, org_id),
  FOREIGN KEY (session_id, org_id) REFERENCES undolog_sessions,
  CHECK ((state = 'closed') = (closed_at IS NOT NULL) AND (state = 'closed') = (closed_as IS NOT NULL)
    AND (state = 'closed') = (closed_by IS NOT NULL)),
  CHECK ((undo_id IS NULL) = (child_session_id IS NOT NULL))
);
CREATE UNIQUE INDEX undolog_dead_letters_open ON undolog_dead_letters (session_id, org_id) WHERE state = 'open';
CREATE INDEX undolog_dead_letters_session ON undolog_dead_letters (session_id, org_id);
CREATE INDEX undolog_dead_letters_newest ON undolog_dead_letters (org_id, halted_at DESC, dead_letter_id DESC);
CREATE INDEX undolog_dead_letters_unannounced ON undolog_dead_letters (halted_at) WHERE announced_at IS NULL;
CREATE INDEX undolog_dead_letters_depth ON undolog_dead_letters (halted_at) WHERE state = 'open';`;

const HOUSEKEEPING = `
CREATE TABLE undolog_idempotency_keys (
  org_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  method text NOT NULL,
  path text COLLATE "C" NOT NULL,
  body_hash bytea NOT NULL,
  status integer NOT NULL,
  content_type text NOT NULL,
  -- NULL: the answer held a secret, which is never kept.
  body bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (key, org_id, method, path)
);
CREATE INDEX undolog_idempotency_keys_age ON undolog_idempotency_keys (created_at);

-- What the tries at one host of one org came to. A row that is lost costs calls, nothing else.
CREATE TABLE undolog_breakers (
  org_id uuid NOT NULL REFERENCES undolog_orgs,
  -- Scheme, name and port.
  host text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'closed' CHECK (state IN ('closed', 'open', 'half_open')),
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  window_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  failures integer NOT NULL DEFAULT 0,
  answers integer NOT NULL DEFAULT 0,
  failing_sessions text[] NOT NULL DEFAULT '{}',
  retry_at timestamptz,
  failed_probes integer NOT NULL DEFAULT 0,
  next_slot_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (host, org_id),
  CHECK ((state = 'closed') = (retry_at IS NULL))
);
CREATE INDEX undolog_breakers_open ON undolog_breakers (host) WHERE state <> 'closed';

CREATE TABLE undolog_processes (
  process_id uuid PRIMARY KEY,
  role text NOT NULL CHECK (role IN ('api', 'compensator')),
  queue_kind text NOT NULL CHECK (queue_kind IN ('redis', 'postgres')),
  seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);`;

export const initialSchema = {
  name: '0001-initial-schema',
  async up(knex: Knex): Promise<void> {
    for (const part of [TENANTS, SESSIONS, STACK, DEAD_LETTERS, AUDIT, ALERTS, HOUSEKEEPING]) await knex.raw(part);
  },
  /** History is frozen: a schema is repaired by the next version, never by going back. */
  async down(): Promise<void> {
    await Promise.reject(new Error('0001-initial-schema has no way down'));
  },
};
