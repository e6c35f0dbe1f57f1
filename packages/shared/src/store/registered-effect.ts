import { effectKey } from '../domain/effect-key.js';
import type { EffectState } from '../domain/states.js';
import { fromBytes } from './json-bytes.js';
import type { Tx } from './database.js';
import type { KnownEffect, EffectIds } from './known-effect.js';
import { LEASE_EXPIRED } from './lease.js';
import { lockSessions } from './lock-sessions.js';

const SELECT = `
SELECT e.undo_id, e.stack_position, e.state, e.result, s.state = 'active' AND NOT ${LEASE_EXPIRED} AS session_active
FROM undolog_effect_log e JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
WHERE e.org_id = $1 AND e.effect_id = $2`;

interface Row {
  undo_id: string | null;
  stack_position: number;
  state: EffectState;
  result: Buffer | null;
  session_active: boolean;
}

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
  const [row] = await tx.query<Row>({ name: 'registered_effect', text: SELECT, values: [orgId, effectId] });
  if (!row) return { outcome: 'session_not_active' };
  const ids: EffectIds = {
    effectId,
    undoId: row.undo_id,
    stackPosition: row.stack_position,
    idempotencyKey: effectKey(effectId),
  };
  if (row.state === 'failed') return { outcome: 'effect_failed', ...ids };
  if (row.state === 'committed') return { outcome: 'replay', result: fromBytes(row.result), ...ids };
  if (row.state === 'executing' && row.session_active) return { outcome: 'execute', ...ids };
  return { outcome: 'session_not_active' };
}
