import type { SessionState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import type { Statement } from './database.js';
import { RENEWED_LEASE } from './lease.js';

/** How long the sweep leaves a session to the wake-up call that follows the commit which starts its unwind. */
export const FIRST_LOOK_AFTER = `interval '4 seconds'`;

/**
 * Moves unwinding sessions on once their top entry is settled: to the next entry that waits, highest position first,
 * or to the session's end. It reads nothing but the tables, so whoever settled an entry, a worker, a late report or a
 * person, runs this same statement in the same transaction.
 *
 * ```
 * top settled, another entry waits          → that entry is the top
 * top waits, and an entry came back above   → that entry is the top
 * top broken under policy halt, or none left and one broken → halted, with a dead letter
 * a child is not settled, and no entry waits above its position → that child is awaited; halted: so is this session
 * none left during a rollback, which takes only what it has marked → active, lease restarted
 * none left                                 → compensated
 * ```
 */
const ADVANCE = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::text[], $3::uuid[]) AS i (session_id, dead_letter_id)
), due AS MATERIALIZED (
  SELECT s.*, t.state AS top_state, i.dead_letter_id
  FROM item i
  JOIN undolog_sessions s ON s.org_id = i.org_id AND s.session_id = i.session_id
  LEFT JOIN undolog_undo_stack t ON t.org_id = s.org_id AND t.undo_id = s.top_undo_id AND t.superseded_by IS NULL
  WHERE s.state IN ('failed', 'compensating')
    AND (t.state IS NULL OR t.state NOT IN ('pending', 'active', 'running')
      OR s.unwind_from IS NULL AND t.state = 'running' AND t.claimed_until IS NULL)
), chosen AS (
  SELECT d.*, n.stack_position AS next_position, n.fence, b.undo_id AS broken_undo_id, b.code AS broken_code,
    CASE WHEN c.session_id IS NULL THEN n.undo_id END AS next_undo_id,
    CASE WHEN c.state <> 'halted' THEN c.session_id END AS next_child_id,
    CASE WHEN c.state = 'halted' THEN c.session_id END AS halted_child_id,
    CASE
      WHEN c.state = 'halted' THEN 'halted'
      WHEN c.session_id IS NOT NULL THEN 'compensating'
      WHEN n.undo_id IS NOT NULL THEN d.state
      WHEN b.undo_id IS NOT NULL THEN 'halted'
      WHEN d.rollback_to IS NOT NULL THEN 'active'
      ELSE 'compensated' END AS next_state
  FROM due d
  LEFT JOIN LATERAL (
    SELECT u.undo_id, u.stack_position, u.fence FROM undolog_undo_stack u
    WHERE u.org_id = d.org_id AND u.session_id = d.session_id AND u.superseded_by IS NULL
      AND u.state IN ('pending', 'active', 'running')
      AND u.stack_position > coalesce(d.rollback_to, -1)
      AND u.stack_position <= coalesce(d.unwind_from, 2147483647)
      AND (d.rollback_to IS NULL OR EXISTS (
        SELECT 1 FROM undolog_effect_log e WHERE e.org_id = u.org_id AND e.effect_id = u.effect_id AND e.rolled_back))
    ORDER BY u.stack_position DESC LIMIT 1
  ) n ON NOT (d.on_compensation_failure = 'halt' AND coalesce(d.top_state, '') IN ('failed', 'unconfirmed'))
  LEFT JOIN LATERAL (
    SELECT k.session_id, k.state FROM undolog_sessions k
    WHERE d.has_children AND k.parent_session_id = d.session_id AND k.org_id = d.org_id
      AND k.state NOT IN ('compensated', 'resolved')
      AND k.parent_position >= coalesce(n.stack_position, 0)
      AND (d.rollback_to IS NULL OR d.rolls_back_children AND k.parent_position > d.rollback_to)
      AND NOT (d.on_compensation_failure = 'halt' AND coalesce(d.top_state, '') IN ('failed', 'unconfirmed'))
    ORDER BY k.parent_position DESC, k.created_at DESC, k.session_id DESC LIMIT 1
  ) c ON true
  LEFT JOIN LATERAL (
    SELECT u.undo_id, u.code FROM undolog_undo_stack u
    WHERE u.org_id = d.org_id AND u.session_id = d.session_id AND u.superseded_by IS NULL
      AND u.state IN ('failed', 'unconfirmed')
    ORDER BY u.stack_position DESC LIMIT 1
  ) b ON n.undo_id IS NULL AND c.session_id IS NULL
), moved AS (
  UPDATE undolog_sessions s SET
    state = c.next_state,
    top_undo_id = c.next_undo_id,
    awaited_child_id = c.next_child_id,
    rolls_back_children = s.rolls_back_children AND c.next_state <> 'active',
    unwind_from = c.next_position,
    rollback_to = CASE WHEN c.next_state = 'active' THEN NULL ELSE s.rollback_to END,
    lease_expires_at = CASE WHEN c.next_state = 'active' THEN ${RENEWED_LEASE} END,
    wake_at = CASE WHEN c.next_undo_id IS NOT NULL OR c.next_child_id IS NOT NULL THEN s.wake_at END,
    updated_at = clock_timestamp()
  FROM chosen c WHERE s.org_id = c.org_id AND s.session_id = c.session_id
), letter AS (
  INSERT INTO undolog_dead_letters (org_id, dead_letter_id, session_id, undo_id, child_session_id, state, code)
  SELECT $1, dead_letter_id, session_id, broken_undo_id, halted_child_id, 'open', coalesce(broken_code, 'child_halted')
  FROM chosen WHERE next_state = 'halted'
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
  SELECT $1, 'undolog', a.action, c.session_id, c.broken_undo_id
  FROM chosen c
  CROSS JOIN LATERAL (VALUES
    (1, 'session.compensating', c.state = 'failed'),
    (2, 'session.' || c.next_state, c.next_child_id IS NULL)) AS a (ordinal, action, happened)
  WHERE c.next_undo_id IS NULL AND a.happened
  ORDER BY c.session_id, a.ordinal
)
SELECT session_id, next_state AS state, next_undo_id, fence, next_child_id, parent_session_id,
  extract(epoch FROM clock_timestamp() - failed_at)::float8 AS unwind_seconds,
  CASE WHEN next_state = 'halted' THEN dead_letter_id END AS dead_letter_id
FROM chosen`;

export interface Advanced {
  readonly session_id: string;
  readonly state: SessionState;
  readonly next_undo_id: string | null;
  readonly fence: number | null;
  /** The child that is undone before the next entry. */
  readonly next_child_id: string | null;
  readonly parent_session_id: string | null;
  readonly unwind_seconds: number | null;
  readonly dead_letter_id: string | null;
}

/** `deadLetterIds`: a fresh id per session, used when that session halts. */
export function advanceUnwind(
  orgId: string,
  sessionIds: readonly string[],
  deadLetterIds: readonly string[],
): Statement {
  return { name: 'advance_unwind', text: ADVANCE, values: [orgId, sessionIds, deadLetterIds] };
}

/** How an unwind has ended, for those who tell of it. */
export type Ended = Pick<Advanced, 'state' | 'unwind_seconds' | 'dead_letter_id'>;

/** Null: it goes on, or was not moved. */
export function endOf(row: Advanced | undefined): Ended | null {
  return !row || row.state === 'failed' || row.state === 'compensating' ? null : row;
}

/** Who is next: an entry, a child that is to be undone first, or the parent of a session that has ended. */
export function wakeUpOf(orgId: string, row: Advanced | undefined): WakeUp | null {
  if (!row) return null;
  if (row.next_undo_id) {
    return { orgId, sessionId: row.session_id, undoId: row.next_undo_id, fence: row.fence ?? 0 };
  }
  const relative = row.next_child_id ?? (row.state === 'active' ? null : row.parent_session_id);
  return relative === null ? null : { orgId, sessionId: relative, undoId: null, fence: 0 };
}
