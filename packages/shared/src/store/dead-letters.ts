import type { JsonText } from '../domain/json-text.js';
import type { UndoState } from '../domain/states.js';
import type { AttemptOutcome } from '../domain/verdict.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';
import type { ClosedAs } from './take-dead-letter.js';

interface EntryRef {
  readonly undo_id: string;
  readonly stack_position: number;
  readonly state: UndoState;
}

/** A halted unwind as a person finds it. */
export interface DeadLetterView {
  readonly dead_letter_id: string;
  readonly session_id: string;
  readonly agent_name: string | null;
  readonly state: 'open' | 'closed';
  /** Raised by every change of the letter. */
  readonly version: number;
  /** The broken entry; null: a child session is halted. */
  readonly undo_id: string | null;
  readonly child_session_id: string | null;
  readonly stack_position: number;
  readonly fn_name: string | null;
  /** Of its compensation. */
  readonly fn_version: string | null;
  readonly code: string;
  readonly attempts: number;
  readonly last_attempt: {
    readonly at: string;
    readonly status: number | null;
    readonly outcome: AttemptOutcome | null;
    readonly error: string | null;
  } | null;
  readonly broken: readonly EntryRef[];
  readonly not_undone: readonly EntryRef[];
  readonly halted_at: string;
  readonly closed: {
    readonly at: string;
    readonly by: string;
    readonly as: ClosedAs | 'rollback_abandoned';
    readonly reason: JsonText | null;
    readonly evidence: JsonText | null;
  } | null;
}

/** All that is given must hold. */
export interface DeadLetterFilter {
  readonly state?: 'open' | 'closed' | undefined;
  readonly sessionIds?: readonly string[] | undefined;
  readonly agentName?: string | undefined;
  readonly fnName?: string | undefined;
  readonly code?: string | undefined;
  readonly haltedBefore?: string | undefined;
  readonly haltedAfter?: string | undefined;
  /** Compensations, as `[fn_name, version]`; the broken entry's must be one of them. */
  readonly compensations?: readonly (readonly [string, string])[] | undefined;
}

export interface DeadLetterPage extends DeadLetterFilter {
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
SELECT d.dead_letter_id, d.session_id, s.agent_name, d.state, d.version, d.undo_id, d.child_session_id,
  coalesce(u.stack_position, k.parent_position) AS stack_position, u.fn_name, u.version AS fn_version, d.code,
  coalesce(u.attempts, 0) AS attempts,
  (SELECT json_build_object('at', a.at, 'status', a.status, 'outcome', a.outcome, 'error', a.error)
    FROM undolog_attempts a WHERE a.org_id = d.org_id AND a.undo_id = d.undo_id
    ORDER BY a.attempt DESC LIMIT 1) AS last_attempt,
  ${refs(`'failed', 'unconfirmed'`)} AS broken,
  ${refs(`'pending', 'active', 'running'`)} AS not_undone,
  d.halted_at, d.closed_at, d.closed_by, d.closed_as, d.closing_reason, d.evidence
FROM undolog_dead_letters d
LEFT JOIN undolog_undo_stack u ON u.org_id = d.org_id AND u.undo_id = d.undo_id
LEFT JOIN undolog_sessions k ON k.org_id = d.org_id AND k.session_id = d.child_session_id
JOIN undolog_sessions s ON s.org_id = d.org_id AND s.session_id = d.session_id
WHERE d.org_id = $1`;

const CHOSEN = `($2::text IS NULL OR d.state = $2)
  AND ($3::text[] IS NULL OR d.session_id = ANY ($3))
  AND ($4::text IS NULL OR s.agent_name = $4)
  AND ($5::text IS NULL OR u.fn_name = $5)
  AND ($6::text IS NULL OR d.code = $6)
  AND ($7::timestamptz IS NULL OR d.halted_at < $7)
  AND ($8::timestamptz IS NULL OR d.halted_at > $8)
  AND ($9::text[] IS NULL OR (u.fn_name, u.version) IN (SELECT * FROM unnest($9::text[], $10::text[])))`;

function valuesOf(orgId: string, filter: DeadLetterFilter): unknown[] {
  const { state, sessionIds, agentName, fnName, code, haltedBefore, haltedAfter, compensations } = filter;
  const given = [state, sessionIds, agentName, fnName, code, haltedBefore, haltedAfter];
  const [names, versions] = [0, 1].map((at) => compensations?.map((one) => one[at]));
  return [orgId, ...given, names, versions].map((value) => value ?? null);
}

interface Row extends Omit<DeadLetterView, 'closed'> {
  closed_at: string | null;
  closed_by: string;
  closed_as: ClosedAs | 'rollback_abandoned';
  closing_reason: Buffer | null;
  evidence: Buffer | null;
}

function viewOf({ closed_at: at, closed_by: by, closed_as: as, closing_reason: reason, evidence, ...row }: Row) {
  const closed = at === null ? null : { at, by, as, reason: fromBytes(reason), evidence: fromBytes(evidence) };
  return { ...row, closed } satisfies DeadLetterView;
}

/** A page of the org's dead letters, newest first. */
export async function listDeadLetters(tx: Tx, orgId: string, page: DeadLetterPage): Promise<DeadLetterView[]> {
  const { after, limit } = page;
  const rows = await tx.query<Row>({
    name: 'list_dead_letters',
    text: `${SELECT} AND ${CHOSEN} AND ($11::timestamptz IS NULL OR (d.halted_at, d.dead_letter_id) < ($11, $12::uuid))
      ORDER BY d.halted_at DESC, d.dead_letter_id DESC LIMIT $13`,
    values: [...valuesOf(orgId, page), after?.haltedAt ?? null, after?.deadLetterId ?? null, limit],
  });
  return rows.map(viewOf);
}

export async function readDeadLetter(tx: Tx, orgId: string, deadLetterId: string): Promise<DeadLetterView | undefined> {
  const [row] = await tx.query<Row>({
    name: 'read_dead_letter',
    text: `${SELECT} AND d.dead_letter_id = $2`,
    values: [orgId, deadLetterId],
  });
  return row && viewOf(row);
}

const PICK = `
SELECT d.dead_letter_id, count(*) OVER ()::int AS matched
FROM undolog_dead_letters d
LEFT JOIN undolog_undo_stack u ON u.org_id = d.org_id AND u.undo_id = d.undo_id
JOIN undolog_sessions s ON s.org_id = d.org_id AND s.session_id = d.session_id
WHERE d.org_id = $1 AND ${CHOSEN} ORDER BY d.halted_at, d.dead_letter_id LIMIT $11`;

/** Open letters that a filter picks. */
export interface Picked {
  /** Those that have waited longest, first. */
  readonly ids: readonly string[];
  /** How many there are in all. */
  readonly matched: number;
  /** None of them is younger. */
  readonly asOf: string;
}

export async function pickDeadLetters(
  tx: Tx,
  orgId: string,
  filter: Omit<DeadLetterFilter, 'state'>,
  limit: number,
): Promise<Picked> {
  const [time] = await tx.query<{ as_of: string }>({ text: 'SELECT clock_timestamp() AS as_of' });
  const asOf = filter.haltedBefore ?? time!.as_of;
  const values = [...valuesOf(orgId, { ...filter, state: 'open', haltedBefore: asOf }), limit];
  const rows = await tx.query<{ dead_letter_id: string; matched: number }>({
    name: 'pick_dead_letters',
    text: PICK,
    values,
  });
  return { ids: rows.map((row) => row.dead_letter_id), matched: rows[0]?.matched ?? 0, asOf };
}
