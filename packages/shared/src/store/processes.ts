import type { QueueKind } from '../domain/queue-kind.js';
import type { Tx } from './database.js';

export type ProcessRole = 'api' | 'compensator';

export interface ProcessRecord {
  readonly processId: string;
  readonly role: ProcessRole;
  readonly queueKind: QueueKind;
}

/** A process that has not been seen for this long counts as gone. */
export const GONE_AFTER = `interval '30 seconds'`;

const RECORD = `
INSERT INTO undolog_processes (process_id, role, queue_kind) VALUES ($1, $2, $3)
ON CONFLICT (process_id) DO UPDATE SET seen_at = clock_timestamp()`;

/** Says that a process lives and which queue it uses; to be repeated well within 30 s. */
export async function recordProcess(tx: Tx, { processId, role, queueKind }: ProcessRecord): Promise<void> {
  await tx.query({ text: RECORD, values: [processId, role, queueKind] });
}

export async function forgetProcess(tx: Tx, processId: string): Promise<void> {
  await tx.query({
    text: `DELETE FROM undolog_processes WHERE process_id = $1 OR seen_at < clock_timestamp() - interval '1 day'`,
    values: [processId],
  });
}

/** Whether a living process waits at another kind of queue: its wake-up calls and ours would never meet. */
export async function queueKindsDiffer(tx: Tx, queueKind: QueueKind): Promise<boolean> {
  const rows = await tx.query({
    text: `SELECT 1 FROM undolog_processes
      WHERE queue_kind <> $1 AND seen_at > clock_timestamp() - ${GONE_AFTER} LIMIT 1`,
    values: [queueKind],
  });
  return rows.length > 0;
}
