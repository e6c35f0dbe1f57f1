import type { Tx } from './database.js';

const READ = `
SELECT fn_name, version FROM undolog_undo_stack
WHERE org_id = $1 AND undo_id = $2 AND fn_name IS NOT NULL`;

/** Which compensation undoes an entry; it never changes. Undefined: there is no such entry, or nothing undoes it. */
export async function readEntryCompensation(
  tx: Tx,
  orgId: string,
  undoId: string,
): Promise<{ readonly fnName: string; readonly version: string } | undefined> {
  const [row] = await tx.query<{ fn_name: string; version: string }>({
    name: 'read_entry_compensation',
    text: READ,
    values: [orgId, undoId],
  });
  return row && { fnName: row.fn_name, version: row.version };
}
