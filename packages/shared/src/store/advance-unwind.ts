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
  SELECT d.*, n.undo_id AS next_undo_id, n.stack_position AS next_position, n.fence, b.undo_id AS broken_undo_id,
    b.code AS broken_code,
    CASE
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
    SELECT u.undo_id, u.code FROM undolog_undo_stack u
    WHERE u.org_id = d.org_id AND u.session_id = d.session_id AND u.superseded_by IS NULL
      AND u.state IN ('failed', 'unconfirmed')
    ORDER BY u.stack_position DESC LIMIT 1
  ) b ON n.undo_id IS NULL
), moved AS (
  UPDATE undolog_sessions s SET
    state = c.next_state,
    top_undo_id = c.next_undo_id,
    unwind_from = c.next_position,
    rollback_to = CASE WHEN c.next_state = 'active' THEN NULL ELSE s.rollback_to END,
    lease_expires_at = CASE WHEN c.next_state = 'active' THEN ${RENEWED_LEASE} END,
    wake_at = CASE WHEN c.next_undo_id IS NOT NULL THEN s.wake_at END,
    updated_at = clock_timestamp()
  FROM chosen c WHERE s.org_id = c.org_id AND s.session_id = c.session_id
), letter AS (
  INSERT INTO undolog_dead_letters (org_id, dead_letter_id, session_id, undo_id, state, code)
  SELECT $1, dead_letter_id, session_id, broken_undo_id, 'open', broken_code
  FROM chosen WHERE next_state = 'halted'
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
  SELECT $1, 'undolog', a.action, c.session_id, c.broken_undo_id
  FROM chosen c
  CROSS JOIN LATERAL (VALUES
    (1, 'session.compensating', c.state = 'failed'),
    (2, 'session.' || c.next_state, true)) AS a (ordinal, action, happened)
  WHERE c.next_undo_id IS NULL AND a.happened
  ORDER BY c.session_id, a.ordinal
)
SELECT session_id, next_state AS state, next_undo_id, fence,
  extract(epoch FROM clock_timestamp() - failed_at)::float8 AS unwind_seconds,
  CASE WHEN next_state = 'halted' THEN dead_letter_id END AS dead_letter_id
FROM chosen`;

export interface Advanced {
  readonly session_id: string;
  readonly state: SessionState;
  readonly next_undo_id: string | null;
  readonly fence: number | null;
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

export function wakeUpOf(orgId: string, row: Advanced | undefined): WakeUp | null {
  if (!row?.next_undo_id) return null;
  return { orgId, sessionId: row.session_id, undoId: row.next_undo_id, fence: row.fence ?? 0 };
}
