import type { WakeUp } from '../domain/wake-up.js';
import type { Operation } from './operation.js';

export interface ResumeCompensation {
  readonly fnName: string;
  /** The key's id. */
  readonly actor: string;
}

export type ResumeResult =
  /** `wakeUps`: the entries that waited for it. */
  { readonly outcome: 'resumed'; readonly wakeUps: readonly WakeUp[] } | { readonly outcome: 'not_found' };

const RESUME = `
WITH resumed AS (
  DELETE FROM undolog_paused_compensations WHERE org_id = $1 AND fn_name = $2 RETURNING fn_name
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action, fn_name)
  SELECT $1, $3, 'compensation.resumed', fn_name FROM resumed
)
SELECT fn_name FROM resumed`;

const KNOWN = 'SELECT 1 FROM undolog_compensation_registry WHERE org_id = $1 AND fn_name = $2 LIMIT 1';

// Only sessions whose unwind is under way have a time for the sweep to look at them.
const PARKED = `
SELECT s.session_id, u.undo_id, u.fence
FROM undolog_sessions s JOIN undolog_undo_stack u ON u.org_id = s.org_id AND u.undo_id = s.top_undo_id
WHERE s.wake_at IS NOT NULL AND s.org_id = $1 AND u.fn_name = $2`;

/** Lets the entries of a compensation run again, and names those that wait to be woken. */
export const resumeCompensation: Operation<ResumeCompensation, ResumeResult> = {
  name: 'resume_compensation',
  async run(tx, orgId, { fnName, actor }) {
    const resumed = await tx.query({ text: RESUME, values: [orgId, fnName, actor] });
    if (resumed.length === 0) {
      const known = await tx.query({ text: KNOWN, values: [orgId, fnName] });
      return known.length > 0 ? { outcome: 'resumed', wakeUps: [] } : { outcome: 'not_found' };
    }
    const parked = await tx.query<{ session_id: string; undo_id: string; fence: number }>({
      text: PARKED,
      values: [orgId, fnName],
    });
    const wakeUps = parked.map((row) => ({ orgId, sessionId: row.session_id, undoId: row.undo_id, fence: row.fence }));
    return { outcome: 'resumed', wakeUps };
  },
};
