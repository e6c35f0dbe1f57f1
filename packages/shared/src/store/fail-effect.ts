import type { JsonText } from '../domain/json-text.js';
import type { EffectState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import { advanceUnwind, wakeUpOf, type Advanced } from './advance-unwind.js';
import type { Vault } from '../domain/vault.js';
import type { Statement, Tx } from './database.js';
import { endWait } from './end-wait.js';
import { wordBytes } from './json-bytes.js';
import { LEASE_EXPIRED, RENEWAL_DUE, RENEWED_LEASE } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { sealJson } from './sealed-json.js';

export interface FailEffect {
  readonly effectId: string;
  /** JSON text of what the tool said; kept, never logged. */
  readonly error: JsonText;
  readonly applied: 'not_applied' | 'unknown';
  /** A fresh id for the dead letter, should the session halt at once. */
  readonly deadLetterId: string;
}

export type FailEffectResult =
  | {
      readonly outcome: 'recorded';
      readonly effectId: string;
      readonly state: EffectState;
      readonly undoId: string | null;
      readonly wake: WakeUp | null;
    }
  | { readonly outcome: 'effect_not_found' | 'effect_committed' };

// A report after the session failed may still spare an entry that was not started its call. Whether an effect of unknown
// outcome exists is looked up by a worker, where its compensation says how.
const FAIL = `
WITH item AS MATERIALIZED (
  SELECT $1::uuid AS org_id, i.* FROM unnest($2::uuid[], $3::bytea[], $4::text[]) AS i (effect_id, error, applied)
), judged AS MATERIALIZED (
  SELECT i.*, e.session_id, e.undo_id, e.state, s.state = 'active' AND NOT ${LEASE_EXPIRED} AS session_active,
    CASE
      WHEN e.effect_id IS NULL THEN 'effect_not_found'
      WHEN e.committed_at IS NOT NULL THEN 'effect_committed'
      WHEN e.state = 'executing' AND s.state IN ('active', 'failed', 'compensating', 'halted') THEN 'record'
      ELSE 'known' END AS outcome
  FROM item i
  LEFT JOIN undolog_effect_log e ON e.org_id = i.org_id AND e.effect_id = i.effect_id
  LEFT JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
), reported AS (
  UPDATE undolog_effect_log e SET error = j.error, reported = j.applied,
    state = CASE j.applied WHEN 'not_applied' THEN 'failed' ELSE e.state END
  FROM judged j WHERE e.org_id = j.org_id AND e.effect_id = j.effect_id AND j.outcome = 'record'
  RETURNING e.org_id, e.effect_id, e.undo_id, e.session_id, e.state, j.session_active
), entry AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $5
  FROM reported r
  WHERE u.org_id = r.org_id AND u.undo_id = r.undo_id AND r.state = 'failed' AND u.state = 'pending'
  RETURNING u.undo_id, u.session_id
), looking AS (
  UPDATE undolog_undo_stack u SET look_at = clock_timestamp(), failed_lookups = 0
  FROM reported r
  WHERE u.org_id = r.org_id AND u.undo_id = r.undo_id AND r.state = 'executing' AND r.session_active
    AND u.state = 'pending' AND EXISTS (
      SELECT 1 FROM undolog_compensation_registry c
      WHERE c.org_id = u.org_id AND c.fn_name = u.fn_name AND c.version = u.version AND c.looks_up)
  RETURNING u.undo_id
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, 'undolog', 'undo.skipped', session_id, undo_id, $5 FROM entry
), lease AS (
  UPDATE undolog_sessions s SET lease_expires_at = ${RENEWED_LEASE}, updated_at = clock_timestamp()
  FROM (SELECT DISTINCT org_id, session_id FROM judged WHERE outcome = 'record' AND session_active) j
  WHERE s.org_id = j.org_id AND s.session_id = j.session_id AND ${RENEWAL_DUE}
)
SELECT j.effect_id, j.session_id, j.undo_id, j.outcome, j.session_active, l.undo_id IS NOT NULL AS looking,
  CASE WHEN j.outcome = 'record' AND j.applied = 'not_applied' THEN 'failed' ELSE j.state END AS state
FROM judged j LEFT JOIN looking l ON l.undo_id = j.undo_id`;

interface Judged {
  effect_id: string;
  session_id: string;
  undo_id: string | null;
  outcome: 'effect_not_found' | 'effect_committed' | 'record' | 'known';
  state: EffectState;
  session_active: boolean | null;
  looking: boolean;
}

function report(orgId: string, inputs: readonly FailEffect[], vault: Vault): Statement {
  return {
    name: 'fail_effect',
    text: FAIL,
    values: [
      orgId,
      inputs.map((input) => input.effectId),
      inputs.map((input) => sealJson(vault, { orgId, column: 'effect_error', row: input.effectId }, input.error)),
      inputs.map((input) => input.applied),
      wordBytes('not_applied'),
    ],
  };
}

function toResult(row: Judged, wake: WakeUp | null): FailEffectResult {
  if (row.outcome === 'effect_not_found' || row.outcome === 'effect_committed') return { outcome: row.outcome };
  return { outcome: 'recorded', effectId: row.effect_id, state: row.state, undoId: row.undo_id, wake };
}

function lookUp(orgId: string, row: Judged): WakeUp | null {
  return row.looking ? { orgId, sessionId: row.session_id, undoId: row.undo_id!, fence: 0, task: 'lookup' } : null;
}

async function run(tx: Tx, orgId: string, input: FailEffect): Promise<FailEffectResult> {
  await tx.query(lockSessions(orgId, [input]));
  const [row] = await tx.query<Judged>(report(orgId, [input], tx.vault));
  if (!row!.session_id || row!.session_active) return toResult(row!, lookUp(orgId, row!));
  // The entry that was skipped may have been the one whose turn it was.
  const [advanced] = await tx.query<Advanced>(advanceUnwind(orgId, [row!.session_id], [input.deadLetterId]));
  return toResult(row!, wakeUpOf(orgId, advanced) ?? (await endWait(tx, orgId, input.effectId)));
}

/** Reports that a tool call did not succeed. It never fails the session. */
export const failEffect: Operation<FailEffect, FailEffectResult> = {
  name: 'fail_effect',
  run,
  batch: {
    key: (input) => input.effectId,
    lock: (input) => ({ effectId: input.effectId }),
    statements: (orgId, inputs, vault) => [report(orgId, inputs, vault)],
    read([rows], inputs, orgId) {
      const judged = new Map((rows as Judged[]).map((row) => [row.effect_id, row]));
      return inputs.map((input) => {
        const row = judged.get(input.effectId)!;
        // A late report is recorded by now; running it again alone changes nothing more, but moves the unwind on.
        return row.session_active === false ? 'alone' : toResult(row, lookUp(orgId, row));
      });
    },
  },
};
