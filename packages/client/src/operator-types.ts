import type { PageQuery, Role, SessionState, UndoState } from './types.js';

/** What operators see and send. */

export interface EntryRef {
  undo_id: string;
  stack_position: number;
  state: UndoState;
}

export interface DeadLetter {
  dead_letter_id: string;
  session_id: string;
  agent_name: string | null;
  state: 'open' | 'closed';
  version: number;
  undo_id: string | null;
  child_session_id: string | null;
  stack_position: number | null;
  fn_name: string | null;
  fn_version: string | null;
  code: string | null;
  attempts: number;
  last_attempt: { at: string; status: number | null; outcome: string | null; error: string | null } | null;
  broken: EntryRef[];
  not_undone: EntryRef[];
  halted_at: string;
  closed: {
    at: string;
    by: string;
    as: 'retry' | 'skip' | 'resolve' | 'confirm' | 'rollback_abandoned';
    reason: unknown;
    evidence: unknown;
  } | null;
}

export interface DeadLetterQuery extends PageQuery {
  state?: 'open' | 'closed';
  session_id?: string;
  agent_name?: string;
  fn_name?: string;
  host?: string;
  code?: string;
  halted_before?: string;
  halted_after?: string;
}

export interface BulkDeadLetters {
  action: 'retry' | 'skip' | 'resolve';
  filter: { session_ids?: string[]; agent_name?: string; fn_name?: string; code?: string };
  reason?: string;
  dry_run?: boolean;
  limit?: number;
  per_second?: number;
  halted_before?: string;
}

export interface BulkAnswer {
  matched: number;
  applied?: number;
  refused?: { dead_letter_id: string; code: string }[];
  remaining?: number;
  as_of?: string;
}

export interface AuditEntry {
  seq: number;
  at: string;
  actor: string;
  actor_name: string | null;
  actor_role: Role | null;
  action: string;
  session_id: string | null;
  undo_id: string | null;
  fn_name: string | null;
  before: string | null;
  after: string | null;
  reason: unknown;
  reason_erased: boolean;
}

export interface AuditQuery extends PageQuery {
  session_id?: string;
  undo_id?: string;
  actor?: string;
  action?: string;
  since?: string;
  until?: string;
}

export interface AuditSeal {
  number: number;
  entries: number;
  hash: string;
  sealed_at: string;
}

export interface VerifiedAudit {
  ok: boolean;
  seals: number;
  entries: number;
  sealed_through: AuditSeal | null;
  first_fault: { seal: number; kind: 'missing' | 'entries' | 'altered' } | null;
  unsealed: number;
  next: number | null;
}

export interface ApiKey {
  key_id: string;
  role: Role;
  name: string | null;
  created_at: string;
}

/** The key that the client has. */
export interface Caller extends ApiKey {
  org_id: string;
}

/** A registered compensation: its specification, and how its host is doing. */
export interface Compensation {
  fn_name: string;
  version: string;
  url: string;
  created_at: string;
  paused: boolean;
  pause_reason: unknown;
  breaker: { state: 'closed' | 'open' | 'half_open'; since: string | null; retry_at: string | null };
  [member: string]: unknown;
}

export interface CompensationPause {
  fn_name: string;
  paused: boolean;
  reason: unknown;
}

export interface OverviewQuery {
  /** 1, 24 (when not given) or 168. */
  hours?: number;
}

/** How an org has been doing, in pictures. */
export interface Overview {
  at: string;
  hours: number;
  /** Sessions in these states now. */
  states: Record<'active' | 'failed' | 'compensating' | 'halted', number>;
  /** States of which there may be more. */
  capped: SessionState[];
  /** Equal steps, the oldest first. */
  buckets: { at: string; opened: number; completed: number; compensated: number; halted: number }[];
  /** From the failure of a session to its last undo. */
  unwind: {
    count: number;
    p50_ms: number | null;
    p95_ms: number | null;
    p99_ms: number | null;
    histogram: { up_to_ms: number | null; count: number }[];
  };
  dead_letters: {
    open: number;
    oldest_halted_at: string | null;
    by_code: { code: string; count: number }[];
    by_age: { up_to_seconds: number | null; count: number }[];
  };
  /** Hosts that are not called freely now. */
  breakers: ({ host: string } & Compensation['breaker'])[];
  paused: { fn_name: string; pause_reason: unknown }[];
  /** There was more in the time than is read: buckets and latencies are those of the newest part. */
  sampled: boolean;
}

/** How the undos of a compensation ended in the time asked for; one that broke and was retried has several ends. */
export interface CompensationOutcomes {
  fn_name: string;
  version: string;
  compensated: number;
  failed: number;
  unconfirmed: number;
  skipped: number;
}

export interface Webhook {
  webhook_id: string;
  url: string;
  description: string | null;
  events: ('session.halted' | 'undo.unconfirmed' | 'undo.deadline_near' | 'session.compensated')[];
  state: 'enabled' | 'disabled';
  /** `gone`: it answered 410. `failing`: it took nothing for three days. */
  disabled_because: 'gone' | 'failing' | null;
  created_at: string;
}

export interface CreateWebhook {
  url: string;
  /** All of them when not given. */
  events?: Webhook['events'];
  description?: string;
  /** `whsec_…`; a new one is made when not given. */
  secret?: string;
}

export interface AlertDelivery {
  delivery_id: string;
  event: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: { at: string; status: number | null; error: string | null; duration_ms: number }[];
  next_attempt_at: string | null;
  created_at: string;
}

/** What was erased of a session that has ended. Where it is not `complete`, erase again. */
export interface ErasedData {
  session_id: string;
  data_erased_at: string;
  complete: boolean;
}

/** A secret that compensations may name; its value is never shown. */
export interface Secret {
  name: string;
  updated_at: string;
}
