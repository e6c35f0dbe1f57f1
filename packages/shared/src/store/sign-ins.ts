import type { Role } from '../domain/roles.js';
import type { Tx } from './database.js';

/** Somebody who is signed in to the web page with a key of an org. */
export interface SignInView {
  readonly org_id: string;
  readonly key_id: string;
  readonly name: string | null;
  readonly role: Role;
  readonly expires_at: string;
}

const SIGNED_IN_HOURS = 12;
export const SIGNED_IN_SECONDS = SIGNED_IN_HOURS * 3600;

/** More of one key push out the oldest. */
const MAX_PER_KEY = 100;

const OPEN = `
WITH expired AS (
  DELETE FROM undolog_dashboard_sessions WHERE token_hash IN (
    SELECT token_hash FROM undolog_dashboard_sessions WHERE expires_at < clock_timestamp() LIMIT 1000)
), pushed_out AS (
  DELETE FROM undolog_dashboard_sessions WHERE token_hash IN (
    SELECT token_hash FROM undolog_dashboard_sessions WHERE key_id = $3 AND org_id = $2
    ORDER BY expires_at DESC OFFSET ${MAX_PER_KEY - 1})
), opened AS (
  INSERT INTO undolog_dashboard_sessions (token_hash, org_id, key_id, expires_at)
  SELECT $1, org_id, key_id, clock_timestamp() + interval '${SIGNED_IN_HOURS} hours'
  FROM undolog_api_keys WHERE key_id = $3 AND org_id = $2 AND revoked_at IS NULL
  RETURNING org_id, key_id, expires_at
), audit AS (
  INSERT INTO undolog_audit_log (org_id, actor, action)
  SELECT org_id, key_id::text, 'dashboard.signed_in' FROM opened
)
SELECT o.org_id, o.key_id, k.name, k.role, o.expires_at
FROM opened o JOIN undolog_api_keys k ON k.key_id = o.key_id AND k.org_id = o.org_id`;

/** @returns undefined when the key was revoked meanwhile. */
export async function openSignIn(
  tx: Tx,
  tokenHash: Buffer,
  { orgId, keyId }: { readonly orgId: string; readonly keyId: string },
): Promise<SignInView | undefined> {
  const [opened] = await tx.query<SignInView>({ name: 'open_sign_in', text: OPEN, values: [tokenHash, orgId, keyId] });
  return opened;
}

const FIND = `
SELECT d.org_id, d.key_id, k.name, k.role, d.expires_at
FROM undolog_dashboard_sessions d JOIN undolog_api_keys k ON k.key_id = d.key_id AND k.org_id = d.org_id
WHERE d.token_hash = $1 AND d.expires_at > clock_timestamp() AND k.revoked_at IS NULL`;

/** Good as long as it has not run out and its key has not been revoked. */
export async function findSignIn(tx: Tx, tokenHash: Buffer): Promise<SignInView | undefined> {
  const [found] = await tx.query<SignInView>({ name: 'find_sign_in', text: FIND, values: [tokenHash] });
  return found;
}

export async function endSignIn(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.query({
    name: 'end_sign_in',
    text: 'DELETE FROM undolog_dashboard_sessions WHERE token_hash = $1',
    values: [tokenHash],
  });
}
