import type { FailureKind, FailurePolicy } from '../domain/failure.js';
import { JsonText } from '../domain/json-text.js';
import type { SessionState, UndoState } from '../domain/states.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';
import { CALL_MAY_LAND_UNTIL } from './known-effect.js';
import { ROLLING_BACK } from './roll-back-session.js';

/** An effect that is still there at the vendor although its session did not succeed, or may be. */
export interface StandingEffect {
  readonly effect_id: string;
  readonly tool_name: string;
  readonly stack_position: number;
  /** Why it stands: a skip's reason, an undo's code, or `not_undone`. */
  readonly reason: string | JsonText;
  readonly outcome: 'committed' | 'unknown';
}

/** A session as the API shows it. */
export interface SessionView {
  readonly session_id: string;
  readonly state: SessionState;
  readonly agent_name: string | null;
  readonly external_run_id: string | null;
  readonly metadata: JsonText | null;
  readonly on_compensation_failure: FailurePolicy;
  readonly lease_expires_at: string | null;
  readonly rollback_to: number | null;
  readonly parent: { readonly session_id: string; readonly stack_position: number } | null;
  readonly fully_compensated: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  readonly undo_counts: Readonly<Record<UndoState, number>>;
  readonly effects_standing: readonly StandingEffect[];
  readonly failure: {
    readonly reason: JsonText;
    readonly kind: FailureKind;
    readonly effect_id: string | null;
    readonly at: string;
  } | null;
  readonly retry_at: string | null;
  readonly data_erased_at: string | null;
}

// An undo speaks for what it undid: one that came before the report of the effect's success does not.
const STANDING = `
SELECT json_agg(json_build_object(
    'effect_id', e.effect_id, 'tool_name', e.tool_name, 'stack_position', e.stack_position,
    'reason_text', CASE WHEN u.fn_name IS NULL OR NOT e.committed_late THEN convert_from(u.reason, 'UTF8') END, 'reason', coalesce(u.code, 'not_undone'),
    'outcome', CASE WHEN e.committed_at IS NULL THEN 'unknown' ELSE 'committed' END)
  ORDER BY e.stack_position DESC)
FROM undolog_effect_log e JOIN undolog_undo_stack u ON u.org_id = e.org_id AND u.undo_id = e.undo_id
WHERE e.org_id = s.org_id AND e.session_id = s.session_id AND e.state <> 'failed'
  AND NOT (u.state = 'compensated' AND coalesce(e.committed_at < u.compensated_at, true))
  AND (s.state = 'completed' AND (e.reported = 'unknown' AND e.state = 'executing' OR e.committed_late)
    OR (e.rolled_back OR s.state NOT IN ('active', 'completed') AND NOT ${ROLLING_BACK})
      AND (e.committed_late OR coalesce(convert_from(u.reason, 'UTF8') NOT IN ('"not_applied"', '"effect_absent"'), true)))`;

/** One row for each session of `source`, a table or the rows that were picked of it. */
export function sessionQuery(source: string): string {
  return `
SELECT s.session_id, s.state, s.agent_name, s.external_run_id, s.metadata, s.on_compensation_failure,
  s.lease_expires_at, s.rollback_to, s.parent_session_id, s.parent_position, s.created_at, s.updated_at,
  s.failure_reason, s.failure_kind, s.failure_effect_id, s.failed_at, s.data_erased_at,
  counts.by_state, standing.effects,
  CASE WHEN top.due_at > clock_timestamp() THEN top.due_at END AS retry_at
FROM ${source} s
LEFT JOIN LATERAL (
  SELECT greatest(u.next_attempt_at, ${CALL_MAY_LAND_UNTIL}) AS due_at
  FROM undolog_undo_stack u JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  WHERE u.org_id = s.org_id AND u.undo_id = s.top_undo_id
) AS top ON true
LEFT JOIN LATERAL (
  SELECT json_object_agg(state, n) FROM (
    SELECT u.state, count(*) AS n FROM undolog_undo_stack u
    WHERE u.org_id = s.org_id AND u.session_id = s.session_id AND u.superseded_by IS NULL GROUP BY u.state
  ) AS counted
) AS counts (by_state) ON true
LEFT JOIN LATERAL (${STANDING}) AS standing (effects) ON true`;
}

export interface SessionRow {
  session_id: string;
  state: SessionState;
  agent_name: string | null;
  external_run_id: string | null;
  metadata: Buffer | null;
  on_compensation_failure: FailurePolicy;
  lease_expires_at: string | null;
  rollback_to: number | null;
  parent_session_id: string | null;
  parent_position: number | null;
  created_at: string;
  updated_at: string;
  failure_reason: Buffer | null;
  failure_kind: FailureKind | null;
  failure_effect_id: string | null;
  failed_at: string | null;
  data_erased_at: string | null;
  by_state: Partial<Record<UndoState, number>> | null;
  effects: (StandingEffect & { reason_text: string | null })[] | null;
  retry_at: string | null;
}

/** The counts of a session without entries. */
export const NO_UNDO = { pending: 0, active: 0, running: 0, compensated: 0, failed: 0, unconfirmed: 0, skipped: 0 };

export function sessionView(row: SessionRow): SessionView {
  const standing = (row.effects ?? []).map(({ reason_text: text, ...effect }) => ({
    ...effect,
    reason: text === null ? effect.reason : new JsonText(text),
  }));
  return {
    session_id: row.session_id,
    state: row.state,
    agent_name: row.agent_name,
    external_run_id: row.external_run_id,
    metadata: fromBytes(row.metadata),
    on_compensation_failure: row.on_compensation_failure,
    lease_expires_at: row.lease_expires_at,
    rollback_to: row.rollback_to,
    parent:
      row.parent_session_id === null
        ? null
        : { session_id: row.parent_session_id, stack_position: row.parent_position! },
    fully_compensated: row.state === 'compensated' && standing.length === 0,
    created_at: row.created_at,
    updated_at: row.updated_at,
    undo_counts: { ...NO_UNDO, ...row.by_state },
    effects_standing: standing,
    failure:
      row.failed_at === null
        ? null
        : {
            reason: fromBytes(row.failure_reason!),
            kind: row.failure_kind!,
            effect_id: row.failure_effect_id,
            at: row.failed_at,
          },
    retry_at: row.retry_at,
    data_erased_at: row.data_erased_at,
  };
}

export async function readSession(tx: Tx, orgId: string, sessionId: string): Promise<SessionView | undefined> {
  const [row] = await tx.query<SessionRow>({
    name: 'read_session',
    text: `${sessionQuery('undolog_sessions')} WHERE s.org_id = $1 AND s.session_id = $2`,
    values: [orgId, sessionId],
  });
  return row && sessionView(row);
}
