import type { DeadLetterNotice } from '../domain/dead-letter-notice.js';
import type { Database } from './database.js';

const FIND = `
SELECT org_id, session_id, dead_letter_id FROM undolog_dead_letters
WHERE announced_at IS NULL ORDER BY halted_at LIMIT $1`;

const MARK = `
UPDATE undolog_dead_letters d SET announced_at = clock_timestamp()
FROM unnest($1::uuid[], $2::uuid[]) AS i (org_id, dead_letter_id)
WHERE d.org_id = i.org_id AND d.dead_letter_id = i.dead_letter_id AND d.announced_at IS NULL`;

/** Dead letters whose job has not been written to the dead-letter queue, or not for certain. */
export async function findUnannounced(database: Database, limit: number): Promise<DeadLetterNotice[]> {
  const rows = await database.query<{ org_id: string; session_id: string; dead_letter_id: string }>({
    name: 'find_unannounced',
    text: FIND,
    values: [limit],
  });
  return rows.map((row) => ({ orgId: row.org_id, sessionId: row.session_id, deadLetterId: row.dead_letter_id }));
}

export async function markAnnounced(database: Database, letters: readonly DeadLetterNotice[]): Promise<void> {
  const values = [letters.map((letter) => letter.orgId), letters.map((letter) => letter.deadLetterId)];
  await database.query({ name: 'mark_announced', text: MARK, values });
}

const UNMARK = `
UPDATE undolog_dead_letters SET announced_at = NULL
WHERE state = 'open' AND announced_at IS NOT NULL
  AND (SELECT count(*) FROM undolog_dead_letters WHERE state = 'open' AND announced_at IS NOT NULL) > $1`;

/** Where the queue holds fewer announcements than there are open letters, it has lost some: all are made again. */
export async function unmarkIfLost(database: Database, inQueue: number): Promise<void> {
  await database.query({ name: 'unmark_announced', text: UNMARK, values: [inQueue] });
}
