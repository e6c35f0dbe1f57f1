import type { JsonText } from '../domain/json-text.js';
import type { LookupDecision } from '../domain/lookup.js';
import { wordBytes } from './json-bytes.js';
import { placeOfResult } from './late-commit.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { LOOK_IS_OPEN, type PendingLookup } from './read-lookup.js';
import { sealJson } from './sealed-json.js';

export interface SettleLookup extends Pick<PendingLookup, 'sessionId' | 'undoId' | 'effectId' | 'lookAt'> {
  readonly decision: LookupDecision | { readonly kind: 'found'; readonly result: JsonText };
}

/** `gone`: the effect was reported, its session has ended, or another worker was first. */
export type SettleLookupResult = { readonly outcome: 'settled' | 'gone' };

// Looks that failed change nothing: after the last one the effect stays as it was, and the unwind, should it come, looks
// again.
const SETTLE = `
WITH mine AS MATERIALIZED (
  SELECT u.org_id, u.undo_id, u.session_id, u.effect_id
  FROM undolog_undo_stack u
  JOIN undolog_sessions s ON s.org_id = u.org_id AND s.session_id = u.session_id
  JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
  WHERE u.org_id = $1 AND u.undo_id = $2 AND u.look_at = $3::timestamptz AND ${LOOK_IS_OPEN}
), entry AS (
  UPDATE undolog_undo_stack u SET
    state = CASE $4 WHEN 'found' THEN 'active' WHEN 'effect_absent' THEN 'skipped' ELSE u.state END,
    reason = CASE $4 WHEN 'effect_absent' THEN $5::bytea END,
    look_at = CASE $4 WHEN 'look_again' THEN clock_timestamp() + $6::float8 * interval '1 millisecond' END,
    absent_since = coalesce(u.absent_since, CASE $7::text WHEN 'absent' THEN clock_timestamp() END),
    failed_lookups = CASE $7::text WHEN 'failed' THEN u.failed_lookups + 1 ELSE u.failed_lookups END
  FROM mine m WHERE u.org_id = m.org_id AND u.undo_id = m.undo_id
), effect AS (
  UPDATE undolog_effect_log e SET
    state = CASE $4 WHEN 'found' THEN 'committed' ELSE 'failed' END,
    result = $8::bytea,
    committed_at = CASE $4 WHEN 'found' THEN clock_timestamp() END
  FROM mine m
  WHERE e.org_id = m.org_id AND e.effect_id = m.effect_id AND $4 IN ('found', 'effect_absent')
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
  SELECT $1, 'undolog', CASE $4 WHEN 'found' THEN 'effect.found' ELSE 'undo.skipped' END, session_id, undo_id,
    CASE $4 WHEN 'effect_absent' THEN $5::bytea END
  FROM mine WHERE $4 IN ('found', 'effect_absent')
)
SELECT undo_id FROM mine`;

/** Writes what a look for an effect came to, unless it has been overtaken. It never renews the session's lease. */
export const settleLookup: Operation<SettleLookup, SettleLookupResult> = {
  name: 'settle_lookup',
  async run(tx, orgId, input) {
    const { undoId, lookAt, decision } = input;
    await tx.query(lockSessions(orgId, [input]));
    const result = decision.kind === 'found' ? decision.result : null;
    const again = decision.kind === 'look_again' ? decision : null;
    const rows = await tx.query({
      name: 'settle_lookup',
      text: SETTLE,
      values: [
        orgId,
        undoId,
        lookAt,
        decision.kind,
        wordBytes('effect_absent'),
        again?.delayMs ?? null,
        again?.looked ?? null,
        sealJson(tx.vault, placeOfResult(orgId, input), result),
      ],
    });
    return { outcome: rows.length > 0 ? 'settled' : 'gone' };
  },
};
