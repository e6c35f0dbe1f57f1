import type { Statement } from './database.js';
import { LEASE_EXPIRED, RENEWED_LEASE } from './lease.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';

export type HeartbeatResult =
  | { readonly outcome: 'renewed'; readonly leaseExpiresAt: string | null }
  | { readonly outcome: 'session_not_active' | 'session_not_found' };

// Unlike the renewal by other calls this one is always written: its answer is the new end of the lease.
const RENEW = `
UPDATE undolog_sessions s SET lease_expires_at = ${RENEWED_LEASE}, updated_at = clock_timestamp()
WHERE s.org_id = $1 AND s.session_id = $2 AND s.state = 'active' AND NOT ${LEASE_EXPIRED}
RETURNING s.lease_expires_at`;

const EXISTS = 'SELECT 1 FROM undolog_sessions WHERE org_id = $1 AND session_id = $2';

/** Renews the lease of an active session. */
export const heartbeat: Operation<{ readonly sessionId: string }, HeartbeatResult> = {
  name: 'heartbeat',
  async run(tx, orgId, input) {
    const values = [orgId, input.sessionId];
    const renew: Statement = { name: 'heartbeat', text: RENEW, values };
    await tx.query(lockSessions(orgId, [input]));
    const [renewed] = await tx.query<{ lease_expires_at: string | null }>(renew);
    if (renewed) return { outcome: 'renewed', leaseExpiresAt: renewed.lease_expires_at };
    const [known] = await tx.query({ text: EXISTS, values });
    return { outcome: known ? 'session_not_active' : 'session_not_found' };
  },
};
