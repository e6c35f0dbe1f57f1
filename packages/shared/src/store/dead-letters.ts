import type { UndoState } from '../domain/states.js';
import type { Tx } from './database.js';

interface EntryRef {
  readonly undo_id: string;
  readonly stack_position: number;
  readonly state: UndoState;
}

/** A halted unwind as a person finds it. */
export interface DeadLetterView {
  readonly dead_letter_id: string;
  readonly session_id: string;
  readonly state: 'open' | 'closed';
  /** The broken entry; null: a child session is halted. */
  readonly undo_id: string | null;
  readonly child_session_id: string | null;
  readonly stack_position: number;
  readonly code: string;
  readonly attempts: number;
  readonly broken: readonly EntryRef[];
  readonly not_undone: readonly EntryRef[];
  readonly halted_at: string;
}

export interface DeadLetterFilter {
  readonly state?: 'open' | 'closed' | undefined;
  readonly limit: number;
  readonly after?: { readonly haltedAt: string; readonly deadLetterId: string } | undefined;
}

/** Entries in these states; of a rollback only those that it is to undo. */
function refs(states: string): string {
  return `coalesce((
    SELECT json_agg(json_build_object('undo_id', e.undo_id, 'stack_position', e.stack_position, 'state', e.state)
      ORDER BY e.stack_position DESC)
    FROM undolog_undo_stack e WHERE e.org_id = d.org_id AND e.session_id = d.session_id
      AND e.superseded_by IS NULL AND e.state IN (${states})
      AND (s.rollback_to IS NULL OR EXISTS (
        SELECT 1 FROM undolog_effect_log x WHERE x.org_id = e.org_id AND x.effect_id = e.effect_id AND x.rolled_back))
    ), '[]')`;
}

const SELECT = `
SELECT d.dead_letter_id, d.session_id, d.state, d.undo_id, d.child_session_id,
  coalesce(u.stack_position, k.parent_position) AS stack_position, d.code, coalesce(u.attempts, 0) AS attempts,
  ${refs(`'failed', 'unconfirmed'`)} AS broken,
  ${refs(`'pending', 'active', 'running'`)} AS not_undone,
  d.halted_at
FROM undolog_dead_letters d
LEFT JOIN undolog_undo_stack u ON u.org_id = d.org_id AND u.undo_id = d.undo_id
LEFT JOIN undolog_sessions k ON k.org_id = d.org_id AND k.session_id = d.child_session_id
JOIN undolog_sessions s ON s.org_id = d.org_id AND s.session_id = d.session_id
WHERE d.org_id = $1`;

const PAGE = `${SELECT}
  AND ($2::text IS NULL OR d.state = $2)
  AND ($3::timestamptz IS NULL OR (d.halted_at, d.dead_letter_id) < ($3, $4::uuid))
ORDER BY d.halted_at DESC, d.dead_letter_id DESC LIMIT $5`;

/** A page of the org's dead letters, newest first. */
export function listDeadLetters(tx: Tx, orgId: string, filter: DeadLetterFilter): Promise<DeadLetterView[]> {
  const { state, after, limit } = filter;
  return tx.query<DeadLetterView>({
    name: 'list_dead_letters',
    text: PAGE,
    values: [orgId, state ?? null, after?.haltedAt ?? null, after?.deadLetterId ?? null, limit],
  });
}

export async function readDeadLetter(tx: Tx, orgId: string, deadLetterId: string): Promise<DeadLetterView | undefined> {
  const [row] = await tx.query<DeadLetterView>({
    name: 'read_dead_letter',
    text: `${SELECT} AND d.dead_letter_id = $2`,
    values: [orgId, deadLetterId],
  });
  return row;
}
