import { IDEMPOTENCY_KEPT_HOURS } from '../domain/limits.js';
import { UnreadableValue, type Fingerprint, type Place } from '../domain/vault.js';
import type { Database, Tx } from './database.js';
import type { Write } from './operation.js';

/** Where a key counts: the same key on another route, or in another org, is another key. */
export interface KeyScope {
  readonly orgId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** Of the body's canonical text. */
  readonly fingerprint: Fingerprint;
}

export interface KeptAnswer {
  readonly status: number;
  readonly contentType: string;
  /** Null: the answer held a secret, which is not kept. */
  readonly text: string | null;
}

export type KeyClaim =
  | { readonly kind: 'new' | 'mismatch' | 'in_progress' | 'secret_already_shown' }
  | { readonly kind: 'replay'; readonly status: number; readonly contentType: string; readonly text: string };

// A hash of the scope stands for it as an advisory lock. Two scopes with one hash only delay each other.
const LOCK = `SELECT pg_try_advisory_xact_lock(hashtextextended(concat_ws(' ', $1::uuid, $2::text, $3::text, $4::text), 0)) AS won`;

const FIND = `
SELECT body_hash, status, content_type, body FROM undolog_idempotency_keys
WHERE org_id = $1 AND method = $2 AND path = $3 AND key = $4
  AND created_at > clock_timestamp() - interval '${IDEMPOTENCY_KEPT_HOURS} hours'`;

interface Row {
  body_hash: Buffer;
  status: number;
  content_type: string;
  body: Buffer | null;
}

/** An answer may hold what a tool gave back. No part but the last can hold a space. */
function placeOf({ orgId, method, path, key }: KeyScope): Place {
  return { orgId, column: 'kept_answer', row: `${method} ${path} ${key}` };
}

/** Takes the key for the rest of the transaction, or tells what it was used for. */
export async function claimKey(tx: Tx, scope: KeyScope): Promise<KeyClaim> {
  const values = [scope.orgId, scope.method, scope.path, scope.key];
  const [lock] = await tx.query<{ won: boolean }>({ name: 'lock_idempotency_key', text: LOCK, values });
  const [kept] = await tx.query<Row>({ name: 'find_idempotency_key', text: FIND, values });
  if (!kept) return { kind: lock?.won ? 'new' : 'in_progress' };
  if (!scope.fingerprint.matches(kept.body_hash)) return { kind: 'mismatch' };
  if (kept.body === null) return { kind: 'secret_already_shown' };
  const unsealed = tx.vault.unseal(placeOf(scope), kept.body);
  if (!unsealed.ok) throw new UnreadableValue(unsealed.fault);
  return { kind: 'replay', status: kept.status, contentType: kept.content_type, text: unsealed.text };
}

const KEEP = `
INSERT INTO undolog_idempotency_keys (org_id, method, path, key, body_hash, status, content_type, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (key, org_id, method, path) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
  content_type = excluded.content_type, body = excluded.body, created_at = clock_timestamp()`;

/** Keeps the answer; it commits together with what it tells. */
export async function keepAnswer(tx: Tx, scope: KeyScope, answer: KeptAnswer): Promise<void> {
  const { orgId, method, path, key, fingerprint } = scope;
  const body = answer.text === null ? null : tx.vault.seal(placeOf(scope), answer.text);
  const values = [orgId, method, path, key, fingerprint.bytes, answer.status, answer.contentType, body];
  await tx.query({ name: 'keep_answer', text: KEEP, values });
}

const KEEP_NEW = `
INSERT INTO undolog_idempotency_keys (org_id, method, path, key, body_hash, status, content_type, body)
SELECT $1, i.* FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::int[], $7::text[], $8::bytea[]) AS i`;

export interface NewAnswer {
  readonly scope: KeyScope;
  readonly answer: KeptAnswer & { readonly text: string };
}

/**
 * Keeps answers whose keys nobody has claimed beforehand. Should one be taken, the statement fails, and with it the
 * transaction: then each has to be done by itself, claim first.
 */
export const keepNewAnswers: Write<NewAnswer> = {
  statements: (orgId, inputs, vault) => [
    {
      name: 'keep_new_answers',
      text: KEEP_NEW,
      values: [
        orgId,
        inputs.map(({ scope }) => scope.method),
        inputs.map(({ scope }) => scope.path),
        inputs.map(({ scope }) => scope.key),
        inputs.map(({ scope }) => scope.fingerprint.bytes),
        inputs.map(({ answer }) => answer.status),
        inputs.map(({ answer }) => answer.contentType),
        inputs.map(({ scope, answer }) => vault.seal(placeOf(scope), answer.text)),
      ],
    },
  ],
};

/** Drops answers that are past their time, a bounded number per call. */
export async function forgetOldAnswers(database: Database): Promise<void> {
  await database.query({
    name: 'forget_old_answers',
    text: `DELETE FROM undolog_idempotency_keys WHERE ctid IN (
      SELECT ctid FROM undolog_idempotency_keys
      WHERE created_at < clock_timestamp() - interval '${IDEMPOTENCY_KEPT_HOURS} hours' LIMIT 1000)`,
  });
}
