import { rowsOf, type Queryable } from './postgres.js';

/** Where a key counts, and what came under it. */
export interface KeyedCall {
  readonly scope: string;
  readonly key: string;
  readonly bodySha256: string;
}

export interface Claimed {
  readonly kind: 'claimed';
  readonly holder: string;
  /** An earlier call under this key began and never told how it ended. */
  readonly takenOver: boolean;
}

export type Claim =
  | Claimed
  | { readonly kind: 'in_progress' | 'key_reused' }
  | { readonly kind: 'complete'; readonly status: number; readonly body: string | null };

// A transaction that is still open holds this lock, so that a duplicate is told at once instead of made to wait. The
// server ends a transaction in which nothing happens any more, as when the machine of its client has vanished.
const LOCK = `
SELECT set_config('idle_in_transaction_session_timeout', $3::text, true),
  pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', 'undolog_receiver', $1::text, $2::text), 0)) AS won`;

/** Takes the key for the rest of the transaction. @returns false while another transaction has it. */
export async function lockKey(tx: Queryable, call: KeyedCall, idleLimitMs: number): Promise<boolean> {
  const [row] = await rowsOf<{ won: boolean }>(tx, LOCK, call.scope, call.key, String(idleLimitMs));
  return row!.won;
}

const CLAIM = `
INSERT INTO undolog_receiver_calls AS c (scope, key, state, body_sha256, holder, lease_expires_at)
VALUES ($1, $2, 'in_flight', $3, gen_random_uuid(), clock_timestamp() + $4::float8 * interval '1 millisecond')
ON CONFLICT (scope, key) DO UPDATE
SET holder = excluded.holder, claims = c.claims + 1, lease_expires_at = excluded.lease_expires_at
WHERE c.state = 'in_flight' AND c.lease_expires_at <= clock_timestamp() AND c.body_sha256 = excluded.body_sha256
RETURNING holder, claims`;

const LOOK = `
SELECT state, body_sha256 = $3 AS same_body, status, body FROM undolog_receiver_calls WHERE scope = $1 AND key = $2`;

interface Kept {
  state: 'in_flight' | 'complete';
  same_body: boolean;
  status: number;
  body: string | null;
}

/** Makes this call the one that may carry out the key, or tells what became of the key before. */
export async function claimKey(db: Queryable, call: KeyedCall, leaseMs: number): Promise<Claim> {
  const { scope, key, bodySha256 } = call;
  const [won] = await rowsOf<{ holder: string; claims: number }>(db, CLAIM, scope, key, bodySha256, leaseMs);
  if (won) return { kind: 'claimed', holder: won.holder, takenOver: won.claims > 1 };
  const [kept] = await rowsOf<Kept>(db, LOOK, scope, key, bodySha256);
  if (kept && !kept.same_body) return { kind: 'key_reused' };
  // Gone between the two statements: its handler has just failed, and the next call will find it absent.
  if (kept?.state !== 'complete') return { kind: 'in_progress' };
  return { kind: 'complete', status: kept.status, body: kept.body };
}

const RENEW = `
UPDATE undolog_receiver_calls SET lease_expires_at = clock_timestamp() + $4::float8 * interval '1 millisecond'
WHERE scope = $1 AND key = $2 AND holder = $3::uuid AND state = 'in_flight'`;

export async function renewClaim(db: Queryable, call: KeyedCall, holder: string, leaseMs: number): Promise<void> {
  await db.query(RENEW, [call.scope, call.key, holder, leaseMs]);
}

const COMPLETE = `
UPDATE undolog_receiver_calls SET state = 'complete', status = $4, body = $5, completed_at = clock_timestamp()
WHERE scope = $1 AND key = $2 AND holder = $3::uuid AND state = 'in_flight' RETURNING 1`;

/** Keeps the answer. @returns false, having kept nothing, if the claim was taken over. */
export async function completeKey(
  db: Queryable,
  call: KeyedCall,
  holder: string,
  answer: { readonly status: number; readonly body: string | null },
): Promise<boolean> {
  const rows = await rowsOf(db, COMPLETE, call.scope, call.key, holder, answer.status, answer.body);
  return rows.length > 0;
}

const RELEASE = `
DELETE FROM undolog_receiver_calls WHERE scope = $1 AND key = $2 AND holder = $3::uuid AND state = 'in_flight'`;

/** Makes the key absent again, so that the next call under it really runs. */
export async function releaseKey(db: Queryable, call: KeyedCall, holder: string): Promise<void> {
  await db.query(RELEASE, [call.scope, call.key, holder]);
}
