import type { JsonText } from '../domain/json-text.js';
import type { LookupMemory } from '../domain/lookup.js';
import { MAX_LOST_ASKERS } from '../domain/limits.js';
import { UnreadableValue, type UnsealFault, type Vault } from '../domain/vault.js';
import type { Statement, Tx } from './database.js';
import { CALL_MAY_LAND_UNTIL } from './known-effect.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { unsealJson } from './sealed-json.js';

export interface ClaimEntry {
  readonly sessionId: string;
  readonly undoId: string;
  /** How long the claim holds without a renewal, by the database's clock. */
  readonly leaseMs: number;
}

/** What a worker needs for the next step of an entry. */
export interface ClaimedEntry {
  readonly undoId: string;
  readonly sessionId: string;
  readonly effectId: string;
  readonly fence: number;
  readonly fnName: string;
  readonly version: string;
  readonly args: JsonText;
  readonly needsResult: boolean;
  /** What the effect was committed with, or what a lookup has found. */
  readonly result: JsonText | null;
  /** A lookup has found the effect. */
  readonly found: boolean;
  readonly effectOutcome: 'committed' | 'unknown';
  readonly traceparent: string | null;
  /** Number of this try over all rounds, from 1. */
  readonly attempt: number;
  /**
   * The try's row is committed, so it counts whatever becomes of the worker. Only a first call to undo what is known to
   * be there is opened by its claim; all others may ask first and not be made at all.
   */
  readonly attemptOpen: boolean;
  readonly attemptsInRound: number;
  readonly maxRetries: number;
  /** An earlier try, of any round, has an outcome that nobody knows. */
  readonly sawUnknown: boolean;
  /** False: the budget was used up by workers that were lost, so there is no call left to make. */
  readonly mayCall: boolean;
  /** False: whoever asked about this entry was lost, again and again. */
  readonly mayAsk: boolean;
  /** The vendor has said "done": nothing is left but to ask its record, for this long. */
  readonly confirming: { readonly leftMs: number; readonly location: string | null } | null;
  readonly lookups: LookupMemory;
  /** Of the last 500 of this round. */
  readonly answerHash: Buffer | null;
  /** How long ago the effect was committed, or handed out where nobody has committed it. */
  readonly effectAgeMs: number;
  /**
   * How long ago the first call left that may have taken; null: none may have. A call that was refused or never left has
   * done nothing that a second one could do again, however old its key is.
   */
  readonly keyAgeMs: number | null;
}

export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly entry: ClaimedEntry }
  /** It is claimed, but what it would send can't be read here. */
  | ({ readonly outcome: 'unreadable'; readonly fault: UnsealFault } & Pick<ClaimedEntry, 'fence'>)
  /** Another worker holds it, or its time has not come: look again after `waitMs`. */
  | { readonly outcome: 'held' | 'not_due'; readonly waitMs: number }
  /** Its compensation is paused; whoever resumes it wakes a worker. */
  | { readonly outcome: 'paused' }
  /** It is settled, superseded, not the session's top, or was never there. */
  | { readonly outcome: 'gone' };

// A session whose top entry waits for a call that may still land is compensating as well.
// A lost worker leaves its attempt open: that try is unknown, and counts.
const CLAIM = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::int[]) AS i (undo_id, lease_ms)
), seen AS (
  SELECT i.lease_ms, u.*, s.state AS session_state, e.state AS effect_state, e.result,
    e.traceparent, e.committed_at IS NOT NULL AS committed, coalesce(e.committed_at, e.executed_at) AS effect_at, p.fn_name IS NOT NULL AS paused,
    s.top_undo_id IS NOT DISTINCT FROM u.undo_id AND s.state IN ('failed', 'compensating') AS is_top,
    greatest(u.next_attempt_at, ${CALL_MAY_LAND_UNTIL}) AS due_at
  FROM item i
  JOIN undolog_undo_stack u ON u.org_id = i.org_id AND u.undo_id = i.undo_id
  JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
  JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  LEFT JOIN undolog_paused_compensations p ON p.org_id = u.org_id AND p.fn_name = u.fn_name
), judged AS MATERIALIZED (
  SELECT *, CASE
    WHEN NOT is_top OR superseded_by IS NOT NULL OR state NOT IN ('pending', 'active', 'running') THEN 'gone'
    WHEN claimed_until > clock_timestamp() THEN 'held'
    WHEN paused THEN 'paused'
    WHEN due_at > clock_timestamp() THEN 'not_due'
    ELSE 'claimed' END AS outcome,
    round_attempts <= max_retries AS may_call,
    committed AND attempts = 0 AND confirm_until IS NULL AS opens,
    CASE state WHEN 'running' THEN failed_lookups ELSE 0 END AS lookups_failed,
    CASE WHEN claimed_until IS NOT NULL AND NOT attempt_open THEN lost_askers + 1 ELSE 0 END AS askers_lost
  FROM seen
), entry AS (
  UPDATE undolog_undo_stack u SET
    state = 'running', code = NULL, next_attempt_at = NULL,
    fence = u.fence + 1,
    claimed_until = clock_timestamp() + j.lease_ms * interval '1 millisecond',
    attempts = u.attempts + j.opens::int,
    round_attempts = u.round_attempts + j.opens::int,
    saw_unknown = u.saw_unknown OR u.attempt_open,
    attempt_open = j.opens,
    failed_lookups = j.lookups_failed,
    lost_askers = j.askers_lost
  FROM judged j
  WHERE u.org_id = j.org_id AND u.undo_id = j.undo_id AND j.outcome = 'claimed'
), lost AS (
  UPDATE undolog_attempts a SET outcome = 'unknown', error = 'worker_lost'
  FROM judged j
  WHERE j.outcome = 'claimed' AND j.attempt_open
    AND a.org_id = j.org_id AND a.undo_id = j.undo_id AND a.attempt = j.attempts
), attempt AS (
  INSERT INTO undolog_attempts (org_id, undo_id, attempt)
  SELECT org_id, undo_id, attempts + 1 FROM judged WHERE outcome = 'claimed' AND opens
), effect AS (
  UPDATE undolog_effect_log e SET state = 'compensating'
  FROM judged j
  WHERE e.org_id = j.org_id AND e.effect_id = j.effect_id AND j.outcome = 'claimed' AND e.state <> 'compensating'
), session AS (
  UPDATE undolog_sessions s SET state = 'compensating', updated_at = clock_timestamp()
  FROM judged j
  WHERE s.org_id = j.org_id AND s.session_id = j.session_id AND j.outcome IN ('claimed', 'not_due') AND s.state = 'failed'
  RETURNING s.session_id
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id)
  SELECT $1, 'undolog', 'session.compensating', session_id FROM session
)
SELECT undo_id, session_id, effect_id, outcome, fn_name, version, args, needs_result, traceparent, committed,
  coalesce(found_result, result) AS result, found_result IS NOT NULL AS found,
  max_retries, fence + 1 AS fence, attempts + may_call::int AS attempts,
  round_attempts + may_call::int AS round_attempts, saw_unknown OR attempt_open AS saw_unknown, may_call, opens,
  extract(epoch FROM confirm_until - clock_timestamp())::float8 * 1000 AS confirm_left_ms, confirm_url,
  ceil(extract(epoch FROM clock_timestamp() - absent_since) * 1000)::float8 AS absent_for_ms, lookups_failed,
  askers_lost <= ${MAX_LOST_ASKERS} AS may_ask, answer_hash,
  extract(epoch FROM clock_timestamp() - effect_at)::float8 * 1000 AS effect_age_ms,
  CASE WHEN attempts > 0 THEN (
    SELECT extract(epoch FROM clock_timestamp() - a.at)::float8 * 1000 FROM undolog_attempts a
    WHERE a.org_id = judged.org_id AND a.undo_id = judged.undo_id
      AND (a.outcome IS NULL OR a.outcome IN ('unknown', 'done'))
    ORDER BY a.attempt LIMIT 1) END AS key_age_ms,
  ceil(extract(epoch FROM greatest(claimed_until, due_at) - clock_timestamp()) * 1000)::int AS wait_ms
FROM judged`;

interface Row {
  undo_id: string;
  session_id: string;
  effect_id: string;
  outcome: Exclude<ClaimResult['outcome'], 'unreadable'>;
  fn_name: string;
  version: string;
  args: Buffer;
  needs_result: boolean;
  result: Buffer | null;
  found: boolean;
  traceparent: string | null;
  committed: boolean;
  max_retries: number;
  fence: number;
  attempts: number;
  round_attempts: number;
  saw_unknown: boolean;
  may_call: boolean;
  opens: boolean;
  confirm_left_ms: number | null;
  confirm_url: string | null;
  absent_for_ms: number | null;
  lookups_failed: number;
  may_ask: boolean;
  answer_hash: Buffer | null;
  effect_age_ms: number;
  key_age_ms: number | null;
  wait_ms: number | null;
}

function claim(orgId: string, inputs: readonly ClaimEntry[]): Statement {
  const ids = inputs.map((input) => input.undoId);
  const leases = inputs.map((input) => input.leaseMs);
  return { name: 'claim_entries', text: CLAIM, values: [orgId, ids, leases] };
}

function claimed(vault: Vault, orgId: string, row: Row): ClaimedEntry {
  const place = { orgId, row: row.effect_id };
  return {
    undoId: row.undo_id,
    sessionId: row.session_id,
    effectId: row.effect_id,
    fence: row.fence,
    fnName: row.fn_name,
    version: row.version,
    args: unsealJson(vault, { ...place, column: 'undo_args' }, row.args),
    needsResult: row.needs_result,
    result: unsealJson(vault, { ...place, column: 'effect_result' }, row.result),
    found: row.found,
    effectOutcome: row.committed ? 'committed' : 'unknown',
    traceparent: row.traceparent,
    attempt: row.attempts,
    attemptOpen: row.opens,
    attemptsInRound: row.round_attempts,
    maxRetries: row.max_retries,
    sawUnknown: row.saw_unknown,
    mayCall: row.may_call,
    mayAsk: row.may_ask,
    confirming: row.confirm_left_ms === null ? null : { leftMs: row.confirm_left_ms, location: row.confirm_url },
    lookups: { absentForMs: row.absent_for_ms, failed: row.lookups_failed },
    answerHash: row.answer_hash,
    effectAgeMs: row.effect_age_ms,
    keyAgeMs: row.key_age_ms,
  };
}

function toResult(vault: Vault, orgId: string, row: Row | undefined): ClaimResult {
  if (!row || row.outcome === 'gone') return { outcome: 'gone' };
  if (row.outcome === 'paused') return { outcome: 'paused' };
  if (row.outcome !== 'claimed') return { outcome: row.outcome, waitMs: Math.max(1, row.wait_ms ?? 1) };
  try {
    return { outcome: 'claimed', entry: claimed(vault, orgId, row) };
  } catch (error) {
    // The claim is committed, and others share its transaction: what is wrong with one row is the matter of that row.
    if (error instanceof UnreadableValue) return { outcome: 'unreadable', fault: error.fault, fence: row.fence };
    throw error;
  }
}

/**
 * Takes the top entry of an unwinding session for its next step: raises its fence, starts its lease and, where nothing
 * but the call can be that step, opens the attempt.
 */
export const claimEntry: Operation<ClaimEntry, ClaimResult> = {
  name: 'claim_entry',
  async run(tx: Tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    const [row] = await tx.query<Row>(claim(orgId, [input]));
    return toResult(tx.vault, orgId, row);
  },
  batch: {
    key: (input) => input.sessionId,
    lock: (input) => input,
    statements: (orgId, inputs) => [claim(orgId, inputs)],
    read([rows], inputs, orgId, vault) {
      const seen = new Map((rows as Row[]).map((row) => [row.undo_id, row]));
      return inputs.map((input) => toResult(vault, orgId, seen.get(input.undoId)));
    },
  },
};
