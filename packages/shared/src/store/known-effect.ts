import { effectKey } from '../domain/effect-key.js';
import type { JsonText } from '../domain/json-text.js';
import type { EffectState } from '../domain/states.js';
import type { Fingerprint } from '../domain/vault.js';
import type { Tx } from './database.js';
import { unsealJson } from './sealed-json.js';

export interface EffectIds {
  readonly effectId: string;
  readonly undoId: string | null;
  readonly stackPosition: number;
  /** For the forward call to the vendor. */
  readonly idempotencyKey: string;
}

/** What a registration that repeats a `call_id` is told. */
export type KnownEffect =
  | ({ readonly outcome: 'in_flight' | 'effect_failed' } & EffectIds)
  | ({ readonly outcome: 'replay'; readonly result: JsonText | null } & EffectIds)
  | { readonly outcome: 'call_id_reused' | 'session_not_active' };

/** What must be known of an effect to tell what a repeat of its registration is told. */
export interface KnownRow {
  effect_id: string;
  undo_id: string | null;
  stack_position: number;
  state: EffectState;
  result: Buffer | null;
  /** Whether its session is active and was not rolled back below it. */
  session_active: boolean;
}

/** SQL: until when a call that nobody reported may still take effect; `e` is the effect's row. */
export const CALL_MAY_LAND_UNTIL = `CASE WHEN e.committed_at IS NULL AND e.reported IS NULL
  THEN e.executed_at + e.call_timeout_ms * interval '1 millisecond' END`;

const SELECT = `
SELECT e.effect_id, e.undo_id, e.stack_position, e.state, e.result, e.body_hash,
  s.state = 'active' AND NOT e.rolled_back AS session_active
FROM undolog_effect_log e JOIN undolog_sessions s ON s.org_id = e.org_id AND s.session_id = e.session_id
WHERE e.org_id = $1 AND e.session_id = $2 AND e.call_id = $3`;

/** The same call again: never a second effect, and never a second `execute`. */
export async function knownEffect(
  tx: Tx,
  orgId: string,
  sessionId: string,
  callId: string,
  fingerprint: Fingerprint,
): Promise<KnownEffect> {
  const [row] = await tx.query<KnownRow & { body_hash: Buffer }>({
    name: 'known_effect',
    text: SELECT,
    values: [orgId, sessionId, callId],
  });
  if (!row || !fingerprint.matches(row.body_hash)) return { outcome: 'call_id_reused' };
  return judgeKnown(tx, orgId, row);
}

export function judgeKnown({ vault }: Tx, orgId: string, row: KnownRow): KnownEffect {
  const ids: EffectIds = {
    effectId: row.effect_id,
    undoId: row.undo_id,
    stackPosition: row.stack_position,
    idempotencyKey: effectKey(row.effect_id),
  };
  if (row.state === 'failed') return { outcome: 'effect_failed', ...ids };
  if (row.state === 'committed') {
    const place = { orgId, column: 'effect_result', row: row.effect_id } as const;
    return { outcome: 'replay', result: unsealJson(vault, place, row.result), ...ids };
  }
  if (row.state === 'executing' && row.session_active) return { outcome: 'in_flight', ...ids };
  return { outcome: 'session_not_active' };
}
