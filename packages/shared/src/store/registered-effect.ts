import type { Tx } from './database.js';
import { judgeKnown, type EffectIds, type KnownEffect, type KnownRow } from './known-effect.js';
import { LEASE_EXPIRED } from './lease.js';
import { lockSessions } from './lock-sessions.js';

const SELECT = `
SELECT e.effect_id, e.undo_id, e.stack_position, e.state, e.result,
  s.state = 'active' AND NOT ${LEASE_EXPIRED} AND NOT e.rolled_back AS session_active
FROM undolog_effect_log e JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
WHERE e.org_id = $1 AND e.effect_id = $2`;

/**
 * What a registration that was answered `execute` is told when it is repeated under its Idempotency-Key: `execute` only
 * while that can still be true, and else what a repeated `call_id` would be told. Takes the session's row, so that no
 * failure slips in between.
 */
export async function registeredEffect(
  tx: Tx,
  orgId: string,
  effectId: string,
): Promise<({ readonly outcome: 'execute' } & EffectIds) | KnownEffect> {
  await tx.query(lockSessions(orgId, [{ effectId }]));
  const [row] = await tx.query<KnownRow>({ name: 'registered_effect', text: SELECT, values: [orgId, effectId] });
  if (!row) return { outcome: 'session_not_active' };
  const known = judgeKnown(tx, orgId, row);
  return known.outcome === 'in_flight' ? { ...known, outcome: 'execute' } : known;
}
