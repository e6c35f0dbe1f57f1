/**
 * What goes over the wire, as the API documents it at `/openapi.json`. Times are RFC 3339 text in UTC, ids are text.
 * A test holds each of these against the schemas that the API checks and answers with.
 */

export type SessionState = 'active' | 'completed' | 'failed' | 'compensating' | 'compensated' | 'halted' | 'resolved';
export type UndoState = 'pending' | 'active' | 'running' | 'compensated' | 'failed' | 'unconfirmed' | 'skipped';
export type EffectState =
  | 'pending'
  | 'executing'
  | 'committed'
  | 'failed'
  | 'compensating'
  | 'compensated'
  | 'compensation_failed'
  | 'compensation_unconfirmed';
export type EffectClass = 'compensable' | 'irreversible' | 'safe';
export type Role = 'agent' | 'operator' | 'admin';
export type Decision = 'execute' | 'in_flight' | 'replay' | 'refuse';

export interface Page<T> {
  data: T[];
  /** For the next page; null on the last one. */
  next_cursor: string | null;
}

export interface PageQuery {
  /** 1 to 200; 50 when not given. */
  limit?: number;
  cursor?: string;
}

export interface OpenSession {
  session_id?: string;
  agent_name?: string;
  external_run_id?: string;
  metadata?: unknown;
  on_compensation_failure?: 'halt' | 'continue';
  lease_seconds?: number;
  max_age_seconds?: number;
  parent?: { session_id: string; stack_position: number };
}

export interface SessionQuery extends PageQuery {
  /** One, or several with commas between them. */
  state?: string;
  /** The beginning of an id. */
  session_id?: string;
  external_run_id?: string;
  agent_name?: string;
  created_after?: string;
  created_before?: string;
}

export interface StandingEffect {
  effect_id: string;
  tool_name: string;
  stack_position: number;
  reason: string | null;
  /** `committed`, or `unknown`: nobody has reported it. */
  outcome: string;
}

export interface Session {
  session_id: string;
  state: SessionState;
  agent_name: string | null;
  external_run_id: string | null;
  metadata: unknown;
  on_compensation_failure: 'halt' | 'continue';
  lease_expires_at: string | null;
  rollback_to: number | null;
  parent: { session_id: string; stack_position: number } | null;
  fully_compensated: boolean;
  created_at: string;
  updated_at: string;
  undo_counts: Record<UndoState, number>;
  effects_standing: StandingEffect[];
  failure: {
    reason: unknown;
    kind: 'reported' | 'lease_expired' | 'cancelled' | 'parent';
    effect_id: string | null;
    at: string;
  } | null;
  retry_at: string | null;
  data_erased_at: string | null;
}

export interface SessionStateAnswer {
  session_id: string;
  state: SessionState;
}

export interface Undo {
  fn_name: string;
  version: string;
  max_retries?: number;
  /** `{"$args": pointer}` and `{"$result": pointer}` are filled in by UndoLog. */
  args: unknown;
}

export interface RegisterEffect {
  tool_name: string;
  args: unknown;
  effect_class: EffectClass;
  step_index?: number;
  call_id?: string;
  call_timeout_ms?: number;
  compensation?: Undo;
}

export interface RegisteredEffect {
  decision: Decision;
  effect_id: string;
  undo_id: string | null;
  stack_position: number;
  idempotency_key: string;
  result?: unknown;
  code?: 'effect_failed';
}

export interface ReportedEffect {
  effect_id: string;
  undo_id: string | null;
  state: EffectState;
}

export interface Attempt {
  at: string;
  status: number | null;
  outcome: 'done' | 'refused' | 'retry' | 'unknown' | null;
  error: string | null;
  duration_ms: number | null;
}

export interface UndoEntry {
  undo_id: string;
  effect_id: string;
  stack_position: number;
  state: UndoState;
  proof: 'confirmed' | 'answered' | null;
  reason: string | null;
  code: string | null;
  registered_at: string;
  compensated_at: string | null;
  fn_name: string | null;
  version: string | null;
  args: unknown;
  generation: number;
  superseded_by: string | null;
  /** Why arguments and results are not shown; null: they are. */
  unreadable: 'encryption_key_missing' | 'value_damaged' | null;
  effect: {
    effect_id: string;
    tool_name: string;
    effect_class: EffectClass;
    state: EffectState;
    args: unknown;
    result: unknown;
    idempotency_key: string;
    registered_at: string;
    executed_at: string | null;
    committed_at: string | null;
  };
  attempts: Attempt[];
}

/** A session or an undo entry has come to another state. */
export interface Change {
  event: 'session' | 'undo';
  /** Its place; a stream that begins after it misses nothing. */
  id: string;
  session_id: string;
  undo_id?: string;
  state: string;
  at: string;
}

export interface PlanStep {
  session_id: string;
  stack_position: number;
  undo_id: string;
  fn_name: string | null;
  version: string | null;
  action: 'call' | 'lookup' | 'skip';
  reason: string;
}

export interface Plan {
  steps: PlanStep[];
  cannot_undo: string[];
  unknown: string[];
  /** Of these steps; `fail`, `cancel` and `rollback` take it as `plan_digest`, a condition. */
  digest: string;
}
