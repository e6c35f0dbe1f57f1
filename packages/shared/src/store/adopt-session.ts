import type { Tx } from './database.js';
import { LEASE_EXPIRED } from './lease.js';
import { lockSessions } from './lock-sessions.js';

export interface Parent {
  readonly sessionId: string;
  /** The child is undone just before the parent's entry at this position, whether there is one or not. */
  readonly position: number;
}

const LOOK = `
SELECT EXISTS (SELECT 1 FROM undolog_sessions c WHERE c.org_id = $1 AND c.session_id = $3) AS child_known,
  (SELECT s.state = 'active' AND NOT ${LEASE_EXPIRED} FROM undolog_sessions s WHERE s.org_id = $1 AND s.session_id = $2)
    AS parent_active`;

const MARK = `
UPDATE undolog_sessions SET has_children = true WHERE org_id = $1 AND session_id = $2 AND NOT has_children`;

/**
 * Takes the parent's row before its child is made, so that no unwind passes the child by. A parent must be there before
 * its child and never changes, so there can be no circle.
 */
export async function adopt(
  tx: Tx,
  orgId: string,
  childId: string,
  { sessionId }: Parent,
): Promise<'unknown_parent' | 'parent_not_active' | undefined> {
  await tx.query(lockSessions(orgId, [{ sessionId }]));
  const [look] = await tx.query<{ child_known: boolean; parent_active: boolean | null }>({
    text: LOOK,
    values: [orgId, sessionId, childId],
  });
  if (look!.child_known) return undefined;
  if (look!.parent_active === null) return 'unknown_parent';
  if (!look!.parent_active) return 'parent_not_active';
  await tx.query({ text: MARK, values: [orgId, sessionId] });
  return undefined;
}
