import { UnreadableValue, type UnsealFault } from '../domain/vault.js';
import type { JsonText } from '../domain/json-text.js';
import type { Tx } from './database.js';
import { unsealJson } from './sealed-json.js';

/** The entry that a dead letter is about, as far as its vendor can be asked about it. */
export interface BrokenEntry {
  readonly undoId: string;
  readonly sessionId: string;
  readonly effectId: string;
  readonly fnName: string;
  readonly version: string;
  readonly args: JsonText;
  readonly needsResult: boolean;
  /** What the effect was committed with, or what a lookup has found. */
  readonly result: JsonText | null;
  readonly effectOutcome: 'committed' | 'unknown';
  readonly traceparent: string | null;
  readonly attempts: number;
}

const READ = `
SELECT u.undo_id, u.session_id, u.effect_id, u.fn_name, u.version, u.args, u.needs_result, u.attempts, e.traceparent,
  coalesce(u.found_result, e.result) AS result, e.committed_at IS NOT NULL AS committed
FROM undolog_dead_letters d
JOIN undolog_undo_stack u ON u.org_id = d.org_id AND u.undo_id = d.undo_id
JOIN undolog_effect_log e ON e.org_id = u.org_id AND e.effect_id = u.effect_id
WHERE d.org_id = $1 AND d.dead_letter_id = $2 AND u.superseded_by IS NULL AND u.state IN ('failed', 'unconfirmed')`;

interface Row {
  undo_id: string;
  session_id: string;
  effect_id: string;
  fn_name: string;
  version: string;
  args: Buffer;
  needs_result: boolean;
  attempts: number;
  traceparent: string | null;
  result: Buffer | null;
  committed: boolean;
}

/** @returns undefined when the letter is about a child session, or its entry is broken no more. */
export async function readBrokenEntry(
  tx: Tx,
  orgId: string,
  deadLetterId: string,
): Promise<BrokenEntry | { readonly fault: UnsealFault } | undefined> {
  const values = [orgId, deadLetterId];
  const [row] = await tx.query<Row>({ name: 'read_broken_entry', text: READ, values });
  if (!row) return undefined;
  const place = { orgId, row: row.effect_id };
  try {
    return {
      undoId: row.undo_id,
      sessionId: row.session_id,
      effectId: row.effect_id,
      fnName: row.fn_name,
      version: row.version,
      args: unsealJson(tx.vault, { ...place, column: 'undo_args' }, row.args),
      needsResult: row.needs_result,
      result: unsealJson(tx.vault, { ...place, column: 'effect_result' }, row.result),
      effectOutcome: row.committed ? 'committed' : 'unknown',
      traceparent: row.traceparent,
      attempts: row.attempts,
    };
  } catch (error) {
    if (error instanceof UnreadableValue) return { fault: error.fault };
    throw error;
  }
}
