import { JsonText } from '../domain/json-text.js';
import type { SessionState } from '../domain/states.js';
import type { WakeUp } from '../domain/wake-up.js';
import { advanceUnwind, endOf, FIRST_LOOK_AFTER, wakeUpOf, type Advanced, type Ended } from './advance-unwind.js';
import type { Tx } from './database.js';
import { failSession } from './fail-session.js';
import { toBytes, wordBytes } from './json-bytes.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { ROLLING_BACK } from './roll-back-session.js';

export interface FollowFamily {
  readonly sessionId: string;
  /** A fresh id for the dead letter, should the session halt at once. */
  readonly deadLetterId: string;
}

export interface FollowResult {
  readonly wake: WakeUp | null;
  readonly ended: Ended | null;
}

// The parent's row is read, not locked: no transaction holds two generations, so none can wait for another in a circle.
// Once a parent awaits a child it can't go on before that child is settled.
const LOOK = `
SELECT s.state, ${ROLLING_BACK} AS rolling_back, p.session_id AS awaited_by
FROM undolog_sessions s
LEFT JOIN undolog_sessions p ON p.org_id = s.org_id AND p.session_id = s.parent_session_id
  AND p.state = 'compensating' AND p.awaited_child_id = s.session_id
WHERE s.org_id = $1 AND s.session_id = $2`;

interface Look {
  state: SessionState;
  rolling_back: boolean;
  awaited_by: string | null;
}

const REOPEN = `
WITH reopened AS (
  UPDATE undolog_sessions s SET state = 'compensating', failure_kind = 'parent', failure_reason = $3,
    failed_at = clock_timestamp(), updated_at = clock_timestamp(), wake_at = clock_timestamp() + ${FIRST_LOOK_AFTER}
  WHERE s.org_id = $1 AND s.session_id = $2 AND s.state = 'completed'
  RETURNING s.org_id, s.session_id
), standing AS (
  UPDATE undolog_undo_stack u SET state = 'skipped', reason = $4
  FROM reopened r
  WHERE u.org_id = r.org_id AND u.session_id = r.session_id AND u.superseded_by IS NULL
    AND u.fn_name IS NULL AND u.state IN ('pending', 'active')
  RETURNING u.session_id, u.undo_id, u.stack_position
)
INSERT INTO undolog_audit_log (org_id, actor, action, session_id, undo_id, reason)
SELECT $1, 'undolog', action, session_id, undo_id, reason FROM (
  SELECT 4294967296 AS ordinal, 'session.compensating' AS action, session_id, NULL::uuid AS undo_id, $3::bytea AS reason
  FROM reopened
  UNION ALL
  SELECT stack_position, 'undo.skipped', session_id, undo_id, $4 FROM standing
) AS entry
ORDER BY ordinal DESC`;

const REASON = new JsonText('"the parent session is undone"');

async function advance(tx: Tx, orgId: string, { sessionId, deadLetterId }: FollowFamily): Promise<FollowResult> {
  const [advanced] = await tx.query<Advanced>(advanceUnwind(orgId, [sessionId], [deadLetterId]));
  return { wake: wakeUpOf(orgId, advanced), ended: endOf(advanced) };
}

/** What becomes of a session whose parent awaits its end. */
async function unwindChild(
  tx: Tx,
  orgId: string,
  input: FollowFamily,
  look: Look,
  parentId: string,
): Promise<FollowResult> {
  const { sessionId, deadLetterId } = input;
  if (look.state === 'active' || look.rolling_back) {
    const failure = { kind: 'parent', reason: REASON, effectId: null, actor: 'undolog' } as const;
    const failed = await failSession.run(tx, orgId, { ...failure, sessionId, deadLetterId });
    return { wake: failed.outcome === 'accepted' ? failed.wake : null, ended: null };
  }
  switch (look.state) {
    case 'completed':
      await tx.query({ text: REOPEN, values: [orgId, sessionId, toBytes(REASON), wordBytes('irreversible')] });
      return advance(tx, orgId, input);
    case 'failed':
    case 'compensating':
      return advance(tx, orgId, input);
    case 'compensated':
    case 'halted':
    case 'resolved':
      return { wake: { orgId, sessionId: parentId, undoId: null, fence: 0 }, ended: null };
    default:
      return look.state satisfies never;
  }
}

/**
 * Looks at a session for the sake of its parent or its children: starts its unwind when its parent awaits it, and moves
 * its own unwind on when the child that it awaited is settled. Doing it again changes nothing.
 */
export const followFamily: Operation<FollowFamily, FollowResult> = {
  name: 'follow_family',
  async run(tx, orgId, input) {
    await tx.query(lockSessions(orgId, [input]));
    const [look] = await tx.query<Look>({ name: 'look_at_family', text: LOOK, values: [orgId, input.sessionId] });
    if (!look) return { wake: null, ended: null };
    return look.awaited_by === null ? advance(tx, orgId, input) : unwindChild(tx, orgId, input, look, look.awaited_by);
  },
};
