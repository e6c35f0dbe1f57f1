import type { SessionState } from '../domain/states.js';
import { wordBytes } from './json-bytes.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';

export interface EraseSessionData {
  readonly sessionId: string;
  readonly actor: string;
  /** How many effects one transaction erases; the others are left for the next. */
  readonly maxEffects: number;
}

export type EraseResult =
  | { readonly outcome: 'session_not_found' | 'session_not_ended' }
  | { readonly outcome: 'erased'; readonly erasedAt: string; readonly complete: boolean };

// What belongs to an ended session may still be needed to undo it, as long as one that it belongs to has not ended.
const LOOK = `
WITH RECURSIVE family AS (
  SELECT state, parent_session_id FROM undolog_sessions WHERE org_id = $1 AND session_id = $2
  UNION ALL
  SELECT p.state, p.parent_session_id
  FROM family f JOIN undolog_sessions p ON p.org_id = $1 AND p.session_id = f.parent_session_id
)
SELECT state FROM family`;

const ENDED: readonly SessionState[] = ['completed', 'compensated', 'resolved'];

/** Stands where words were. The database holds what can not be null to something, and a reader sees that it is gone. */
const ERASED = wordBytes('[erased]');

/** No body has this hash, so that a repeat is told that it is another one. */
const NO_HASH = Buffer.alloc(32);

/** Reasons that we wrote ourselves: they tell what became of an entry, and nothing of anybody. */
const OWN_REASONS = ['irreversible', 'effect_absent', 'not_applied', 'resolved'].map(wordBytes);

const gone = (column: string): string => `${column} = CASE WHEN ${column} IS NOT NULL THEN $3::bytea END`;
const unlessOurs = (column: string): string =>
  `${column} = CASE WHEN ${column} = ANY ($6::bytea[]) THEN ${column} WHEN ${column} IS NOT NULL THEN $3::bytea END`;

const ERASE = `
WITH effect AS (
  UPDATE undolog_effect_log e SET ${gone('args')}, ${gone('result')}, ${gone('error')},
    body_hash = CASE WHEN body_hash IS NOT NULL THEN $4::bytea END
  WHERE e.org_id = $1 AND e.session_id = $2 AND e.effect_id IN (
    SELECT effect_id FROM undolog_effect_log WHERE org_id = $1 AND session_id = $2
      AND (args <> $3 OR result <> $3 OR error <> $3) LIMIT $5)
  RETURNING e.effect_id
), entry AS (
  UPDATE undolog_undo_stack u SET ${gone('args')}, ${gone('found_result')}, answer_hash = NULL, ${unlessOurs('reason')}
  WHERE u.org_id = $1 AND u.session_id = $2 AND u.effect_id IN (SELECT effect_id FROM effect)
), letter AS (
  UPDATE undolog_dead_letters SET ${gone('closing_reason')}, ${gone('evidence')}
  WHERE org_id = $1 AND session_id = $2
), words AS (
  UPDATE undolog_audit_log SET reason = NULL, erased_reason_hash = sha256(reason)
  WHERE org_id = $1 AND session_id = $2 AND reason IS NOT NULL AND reason <> ALL ($6::bytea[])
), session AS (
  UPDATE undolog_sessions SET metadata = NULL, body_hash = $4, data_erased_at = coalesce(data_erased_at, clock_timestamp()),
    failure_reason = CASE WHEN failure_kind IN ('reported', 'cancelled') THEN $3 ELSE failure_reason END
  WHERE org_id = $1 AND session_id = $2
  RETURNING data_erased_at
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id) VALUES ($1, $7, 'session.data_erased', $2)
)
SELECT data_erased_at, (SELECT count(*) FROM effect) AS effects FROM session`;

/**
 * Takes away what agents, vendors and people have said in a session that has ended: arguments, results, errors, reasons,
 * metadata, evidence. Ids, names, states, times, attempts and the audit log stay, and the seals of the log still hold.
 * From then on nothing undoes an effect of it: a late report is kept, and its effect is shown as standing.
 */
export const eraseSessionData: Operation<EraseSessionData, EraseResult> = {
  name: 'erase_session_data',
  async run(tx, orgId, { sessionId, actor, maxEffects }) {
    await tx.query(lockSessions(orgId, [{ sessionId }]));
    const family = await tx.query<{ state: SessionState }>({ text: LOOK, values: [orgId, sessionId] });
    if (family.length === 0) return { outcome: 'session_not_found' };
    if (!family.every(({ state }) => ENDED.includes(state))) return { outcome: 'session_not_ended' };
    const [row] = await tx.query<{ data_erased_at: string; effects: number }>({
      text: ERASE,
      values: [orgId, sessionId, ERASED, NO_HASH, maxEffects, OWN_REASONS, actor],
    });
    return { outcome: 'erased', erasedAt: row!.data_erased_at, complete: row!.effects < maxEffects };
  },
};
