import type { AttemptOutcome, Settlement } from '../domain/verdict.js';
import type { WakeUp } from '../domain/wake-up.js';
import { advanceUnwind, endOf, wakeUpOf, type Advanced, type Ended } from './advance-unwind.js';
import type { Statement, Tx } from './database.js';
import { wordBytes } from './json-bytes.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { supersedeEntry } from './supersede-entry.js';

export interface SettleEntry {
  readonly sessionId: string;
  readonly undoId: string;
  /** The fence of the claim; if it was raised since, nothing is written. */
  readonly fence: number;
  /** What the try looked like. Null when no call was made; an attempt that was opened for it goes away again. */
  readonly attempt: {
    readonly status: number | null;
    readonly outcome: AttemptOutcome;
    readonly error: string | null;
    readonly durationMs: number;
    /** By which the same answer is known when it comes again. */
    readonly answerHash?: Buffer | null;
  } | null;
  readonly settlement: Settlement;
  /** A fresh id for the dead letter, should the session halt. */
  readonly deadLetterId: string;
}

export type SettleResult =
  | { readonly outcome: 'retry'; readonly waitMs: number }
  | {
      readonly outcome: 'settled';
      /** The next entry of the session; null when the session has ended, one way or the other. */
      readonly wake: WakeUp | null;
      readonly ended: Ended | null;
    }
  | { readonly outcome: 'lost_fence' };

const SETTLE = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::bigint[], $4::boolean[], $5::int[], $6::text[], $7::text[], $8::float8[],
    $9::text[], $10::text[], $11::text[], $12::bytea[], $13::float8[], $14::text[], $15::bytea[])
    AS i (undo_id, fence, tried, status, outcome, error, duration_ms, decision, proof, code, reason, delay_ms, looked,
      answer_hash)
), held AS MATERIALIZED (
  SELECT i.*, u.session_id, u.effect_id, u.attempts, u.successor_id,
    i.decision IN ('retry', 'parked') AS waits,
    (u.attempt_open AND NOT i.tried)::int AS untried,
    (u.attempt_open AND (i.decision = 'parked' OR NOT i.tried))::int AS uncounted
  FROM item i JOIN undolog_undo_stack u ON u.org_id = i.org_id AND u.undo_id = i.undo_id
  WHERE u.fence = i.fence AND u.state = 'running' AND u.claimed_until IS NOT NULL
), mine AS MATERIALIZED (
  SELECT * FROM held WHERE successor_id IS NULL OR $16
), attempt AS (
  UPDATE undolog_attempts a SET status = m.status, outcome = m.outcome, error = m.error, duration_ms = m.duration_ms
  FROM mine m WHERE m.tried AND a.org_id = m.org_id AND a.undo_id = m.undo_id AND a.attempt = m.attempts
), untried AS (
  DELETE FROM undolog_attempts a
  USING mine m WHERE m.untried = 1 AND a.org_id = m.org_id AND a.undo_id = m.undo_id AND a.attempt = m.attempts
), entry AS (
  UPDATE undolog_undo_stack u SET
    state = CASE WHEN m.waits THEN 'running' ELSE m.decision END,
    claimed_until = NULL, attempt_open = false, lost_askers = 0,
    attempts = u.attempts - m.untried,
    round_attempts = u.round_attempts - m.uncounted,
    saw_unknown = u.saw_unknown OR coalesce(m.outcome = 'unknown', false),
    answer_hash = coalesce(m.answer_hash, u.answer_hash),
    proof = m.proof, code = m.code, reason = m.reason,
    confirm_until = CASE WHEN m.waits THEN u.confirm_until END,
    confirm_url = CASE WHEN m.waits THEN u.confirm_url END,
    absent_since = CASE WHEN m.waits THEN coalesce(u.absent_since, CASE m.looked WHEN 'absent' THEN clock_timestamp() END) END,
    failed_lookups = CASE WHEN m.waits THEN u.failed_lookups + coalesce(m.looked = 'failed', false)::int ELSE 0 END,
    compensated_at = CASE m.decision WHEN 'compensated' THEN clock_timestamp() END,
    next_attempt_at = CASE WHEN m.waits
      THEN clock_timestamp() + m.delay_ms * interval '1 millisecond' END
  FROM mine m
  WHERE u.org_id = m.org_id AND u.undo_id = m.undo_id
), effect AS (
  UPDATE undolog_effect_log e SET state = CASE m.decision
    WHEN 'compensated' THEN 'compensated'
    WHEN 'failed' THEN 'compensation_failed'
    ELSE 'compensation_unconfirmed' END
  FROM mine m
  WHERE e.org_id = m.org_id AND e.effect_id = m.effect_id AND m.decision IN ('compensated', 'failed', 'unconfirmed')
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, 'undolog', 'undo.' || decision, session_id, undo_id, reason
  FROM mine WHERE decision NOT IN ('retry', 'parked') ORDER BY undo_id
)
SELECT undo_id, session_id, decision, delay_ms, successor_id FROM held`;

interface Settled {
  undo_id: string;
  session_id: string;
  decision: string;
  delay_ms: number | null;
  successor_id: string | null;
}

interface Columns {
  readonly decision: string;
  readonly proof: string | null;
  readonly code: string | null;
  readonly reason: Buffer | null;
  readonly delayMs: number | null;
  readonly looked: 'absent' | 'failed' | null;
}

function columnsOf(settlement: Settlement): Columns {
  const none = { proof: null, code: null, reason: null, delayMs: null, looked: null };
  if (settlement.kind !== 'settled') {
    const { kind: decision, code, delayMs } = settlement;
    return { ...none, decision, code, delayMs, looked: (decision === 'retry' && settlement.looked) || null };
  }
  switch (settlement.state) {
    case 'compensated':
      return { ...none, decision: 'compensated', proof: settlement.proof };
    case 'failed':
    case 'unconfirmed':
      return { ...none, decision: settlement.state, code: settlement.code };
    case 'skipped':
      return { ...none, decision: 'skipped', reason: wordBytes(settlement.reason) };
    default:
      return settlement satisfies never;
  }
}

/** `giveWay`: whether entries that have a successor are written as well; the caller then lets it take over. */
function statements(orgId: string, inputs: readonly SettleEntry[], giveWay: boolean): Statement[] {
  const columns = inputs.map((input) => columnsOf(input.settlement));
  const settle: Statement = {
    name: 'settle_entries',
    text: SETTLE,
    values: [
      orgId,
      inputs.map((input) => input.undoId),
      inputs.map((input) => input.fence),
      inputs.map((input) => input.attempt !== null),
      inputs.map((input) => input.attempt?.status ?? null),
      inputs.map((input) => input.attempt?.outcome ?? null),
      inputs.map((input) => input.attempt?.error ?? null),
      inputs.map((input) => input.attempt?.durationMs ?? null),
      columns.map((column) => column.decision),
      columns.map((column) => column.proof),
      columns.map((column) => column.code),
      columns.map((column) => column.reason),
      columns.map((column) => column.delayMs),
      columns.map((column) => column.looked),
      inputs.map((input) => input.attempt?.answerHash ?? null),
      giveWay,
    ],
  };
  const sessionIds = inputs.map((input) => input.sessionId);
  return [
    settle,
    advanceUnwind(
      orgId,
      sessionIds,
      inputs.map((input) => input.deadLetterId),
    ),
  ];
}

function toResult(orgId: string, settled: Settled | undefined, advanced: Advanced | undefined): SettleResult {
  if (!settled) return { outcome: 'lost_fence' };
  const wake = wakeUpOf(orgId, advanced);
  const goesOn = wake === null || wake.undoId === settled.undo_id;
  const waits = settled.decision === 'retry' || settled.decision === 'parked';
  if (waits && goesOn) return { outcome: 'retry', waitMs: settled.delay_ms ?? 0 };
  return { outcome: 'settled', wake, ended: endOf(advanced) };
}

/** Writes what became of a try, guarded by the fence of its claim, and moves the session on. */
export const settleEntry: Operation<SettleEntry, SettleResult> = {
  name: 'settle_entry',
  async run(tx: Tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    const [settle, advance] = statements(orgId, [input], true);
    const [settled] = await tx.query<Settled>(settle!);
    if (settled?.successor_id) await supersedeEntry(tx, orgId, settled.undo_id, settled.successor_id);
    const [advanced] = await tx.query<Advanced>(advance!);
    return toResult(orgId, settled, advanced);
  },
  batch: {
    key: (input) => input.sessionId,
    lock: (input) => input,
    statements: (orgId, inputs) => statements(orgId, inputs, false),
    read([settled, advanced], inputs, orgId) {
      const entries = new Map((settled as Settled[]).map((row) => [row.undo_id, row]));
      const sessions = new Map((advanced as Advanced[]).map((row) => [row.session_id, row]));
      return inputs.map((input) => {
        const entry = entries.get(input.undoId);
        return entry?.successor_id ? 'alone' : toResult(orgId, entry, sessions.get(input.sessionId));
      });
    },
  },
};
