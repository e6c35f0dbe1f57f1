import type { JsonText } from '../domain/json-text.js';
import type { SessionState, UndoState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import { advanceUnwind, wakeUpOf, type Advanced } from './advance-unwind.js';
import type { Place } from '../domain/vault.js';
import type { Tx } from './database.js';
import { endWait } from './end-wait.js';
import { LEASE_EXPIRED } from './lease.js';
import { sealJson } from './sealed-json.js';
import { supersedeEntry } from './supersede-entry.js';

/** A success report; the ids are fresh, for what it may make necessary. */
export interface SuccessReport {
  readonly effectId: string;
  readonly result: JsonText | null;
  /** For the entry that replaces the effect's present one. */
  readonly successorId: string;
  /** For the dead letter, should the session halt at once. */
  readonly deadLetterId: string;
  readonly actor: string;
}

export function placeOfResult(orgId: string, { effectId }: Pick<SuccessReport, 'effectId'>): Place {
  return { orgId, column: 'effect_result', row: effectId };
}

export interface LateCommit {
  readonly effectId: string;
  readonly undoId: string | null;
  /** The entry that is next because of this report. */
  readonly wake: WakeUp | null;
}

// An entry that was not started is bound to the result and undone in its turn.
const KEEP = `
WITH kept AS (
  UPDATE undolog_effect_log SET result = $3, committed_at = clock_timestamp(), committed_late = true,
    state = CASE WHEN state IN ('executing', 'failed') THEN 'committed' ELSE state END
  WHERE org_id = $1 AND effect_id = $2
  RETURNING session_id, undo_id
), entry AS (
  UPDATE undolog_undo_stack u SET state = 'active'
  FROM kept k WHERE u.org_id = $1 AND u.undo_id = k.undo_id AND u.state = 'pending'
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
SELECT $1, $4, 'effect.committed_late', session_id, undo_id FROM kept`;

const LOOK = `
SELECT e.session_id, u.undo_id, u.state, u.fn_name IS NOT NULL AS can_undo, u.claimed_until IS NOT NULL AS in_flight,
  s.state AS session_state, s.parent_session_id IS NOT NULL AS is_child,
  s.data_erased_at IS NOT NULL AS erased
FROM undolog_effect_log e
JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
LEFT JOIN undolog_undo_stack u ON u.org_id = e.org_id AND u.undo_id = e.undo_id
WHERE e.org_id = $1 AND e.effect_id = $2`;

interface Look {
  session_id: string;
  undo_id: string | null;
  state: UndoState | null;
  can_undo: boolean;
  in_flight: boolean;
  session_state: SessionState;
  is_child: boolean;
  erased: boolean;
}

// Settlement reads it: the entry gives way in the transaction that writes what became of the try.
const PROMISE = `UPDATE undolog_undo_stack SET successor_id = $3 WHERE org_id = $1 AND undo_id = $2`;

// A halted session stays halted, and its dead letter tells of the entry that stands now. A session whose top entry is
// in flight goes on once that try is over. An active one is rolled back once more, for this entry alone.
const REOPEN = `
WITH letter AS (
  UPDATE undolog_dead_letters SET undo_id = $4, version = version + 1
  WHERE org_id = $1 AND session_id = $2 AND undo_id = $3 AND state = 'open'
), due AS MATERIALIZED (
  SELECT s.org_id, s.session_id, s.state, e.stack_position, u.undo_id AS top_in_flight
  FROM undolog_effect_log e
  JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
  LEFT JOIN undolog_undo_stack u
    ON u.org_id = s.org_id AND u.undo_id = s.top_undo_id AND u.claimed_until IS NOT NULL
  WHERE e.org_id = $1 AND e.effect_id = $5 AND (s.state IN ('failed', 'compensating', 'compensated', 'halted')
    OR s.state = 'active' AND e.rolled_back AND NOT ${LEASE_EXPIRED})
), reopened AS (
  UPDATE undolog_sessions s SET
    state = CASE WHEN s.state IN ('active', 'compensated') THEN 'compensating' ELSE s.state END,
    rollback_to = CASE WHEN s.state = 'active' OR s.rollback_to IS NOT NULL
      THEN least(s.rollback_to, d.stack_position - 1) END,
    wake_at = CASE WHEN s.state <> 'halted' THEN clock_timestamp() END,
    lease_expires_at = NULL, updated_at = clock_timestamp(), unwind_from = NULL, top_undo_id = d.top_in_flight,
    awaited_child_id = NULL
  FROM due d WHERE s.org_id = d.org_id AND s.session_id = d.session_id
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id)
SELECT $1, 'undolog', 'session.compensating', session_id, $4 FROM due WHERE state IN ('active', 'compensated')`;

/**
 * Whether the undo that there was came before the effect did; such an effect needs another one. Nothing runs the
 * entries of a session that was completed or resolved: there the report is kept, and the effect is shown as standing.
 * A completed child is the exception: its parent may yet unwind it, and its new entry waits for that. Where the data was
 * erased, nobody knows any more what to undo.
 */
function needsSuccessor(look: Look): boolean {
  const ended = look.session_state === 'resolved' || (look.session_state === 'completed' && !look.is_child);
  return look.can_undo && !look.erased && !ended && look.state !== 'pending' && look.state !== 'active';
}

/**
 * Keeps a success report that came after its session had left `active`, or was rolled back, and has the effect undone: an
 * entry that was settled or tried already is replaced by a new one at the same position, at once or, where a try of it
 * is in flight, when that try is settled. The caller holds the session's lock.
 */
export async function keepLateCommit(tx: Tx, orgId: string, input: SuccessReport): Promise<LateCommit> {
  const { effectId, successorId } = input;
  const result = sealJson(tx.vault, placeOfResult(orgId, input), input.result);
  await tx.query({ name: 'keep_late', text: KEEP, values: [orgId, effectId, result, input.actor] });
  const [look] = await tx.query<Look>({ name: 'look_late', text: LOOK, values: [orgId, effectId] });
  if (!look?.undo_id || !needsSuccessor(look)) {
    return { effectId, undoId: look?.undo_id ?? null, wake: await endWait(tx, orgId, effectId) };
  }
  if (look.in_flight) {
    await tx.query({ name: 'promise_successor', text: PROMISE, values: [orgId, look.undo_id, successorId] });
    return { effectId, undoId: look.undo_id, wake: null };
  }
  await supersedeEntry(tx, orgId, look.undo_id, successorId);
  const reopen = [orgId, look.session_id, look.undo_id, successorId, effectId];
  await tx.query({ name: 'reopen_late', text: REOPEN, values: reopen });
  const advance = advanceUnwind(orgId, [look.session_id], [input.deadLetterId]);
  const [advanced] = await tx.query<Advanced>(advance);
  return { effectId, undoId: successorId, wake: wakeUpOf(orgId, advanced) };
}
