import type { PageQuery, Role, UndoState } from './types.js';

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
