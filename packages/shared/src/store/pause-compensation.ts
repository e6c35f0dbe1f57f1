import type { JsonText } from '../domain/json-text.js';
import { fromBytes, toBytes } from './json-bytes.js';
import type { Operation } from './operation.js';

export interface PauseCompensation {
  readonly fnName: string;
  readonly reason: JsonText;
  /** The key's id. */
  readonly actor: string;
}

export type PauseResult =
  /** `reason`: the first one that was given; a repeat changes nothing. */
  { readonly outcome: 'paused'; readonly reason: JsonText } | { readonly outcome: 'not_found' };

const PAUSE = `
WITH paused AS (
  INSERT INTO undolog_paused_compensations (org_id, fn_name, reason)
  SELECT org_id, fn_name, $3 FROM undolog_compensation_registry WHERE org_id = $1 AND fn_name = $2 LIMIT 1
  ON CONFLICT DO NOTHING
  RETURNING fn_name, reason
)
INSERT INTO undolog_audit_log (org_id, actor, action, fn_name, reason)
SELECT $1, $4, 'compensation.paused', fn_name, reason FROM paused`;

const READ = 'SELECT reason FROM undolog_paused_compensations WHERE org_id = $1 AND fn_name = $2';

/**
 * Parks every entry of a compensation, whatever its version: a claim that begins after this has committed finds it
 * paused. A try that is under way ends by itself.
 */
export const pauseCompensation: Operation<PauseCompensation, PauseResult> = {
  name: 'pause_compensation',
  async run(tx, orgId, { fnName, reason, actor }) {
    await tx.query({ text: PAUSE, values: [orgId, fnName, toBytes(reason), actor] });
    const [row] = await tx.query<{ reason: Buffer }>({ text: READ, values: [orgId, fnName] });
    return row ? { outcome: 'paused', reason: fromBytes(row.reason) } : { outcome: 'not_found' };
  },
};
