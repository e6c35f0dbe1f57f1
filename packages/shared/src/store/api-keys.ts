import type { Role } from '../domain/roles.js';
import type { Tx } from './database.js';

export interface NewKey {
  readonly keyId: string;
  readonly role: Role;
  readonly name: string | null;
  /** SHA-256 of the key; the key itself is never kept. */
  readonly secretHash: Buffer;
}

export interface KeyView {
  readonly key_id: string;
  readonly role: Role;
  readonly name: string | null;
  readonly created_at: string;
}

export interface FoundKey {
  readonly secretHash: Buffer;
  readonly orgId: string;
  readonly keyId: string;
  readonly role: Role;
}

export async function createKey(tx: Tx, orgId: string, key: NewKey): Promise<void> {
  await tx.query({
    text: 'INSERT INTO undolog_api_keys (org_id, key_id, role, name, secret_hash) VALUES ($1, $2, $3, $4, $5)',
    values: [orgId, key.keyId, key.role, key.name, key.secretHash],
  });
}

export function listKeys(tx: Tx, orgId: string): Promise<KeyView[]> {
  return tx.query<KeyView>({
    text: `SELECT key_id, role, name, created_at FROM undolog_api_keys
      WHERE org_id = $1 AND revoked_at IS NULL ORDER BY created_at DESC, key_id DESC`,
    values: [orgId],
  });
}

export async function readKey(tx: Tx, orgId: string, keyId: string): Promise<KeyView | undefined> {
  const [key] = await tx.query<KeyView>({
    name: 'read_key',
    text: `SELECT key_id, role, name, created_at FROM undolog_api_keys WHERE org_id = $1 AND key_id = $2`,
    values: [orgId, keyId],
  });
  return key;
}

/** @returns false when the org has no such key that is still good. */
export async function revokeKey(tx: Tx, orgId: string, keyId: string): Promise<boolean> {
  const rows = await tx.query({
    text: `UPDATE undolog_api_keys SET revoked_at = clock_timestamp()
      WHERE org_id = $1 AND key_id = $2 AND revoked_at IS NULL RETURNING key_id`,
    values: [orgId, keyId],
  });
  return rows.length > 0;
}

const FIND = `
SELECT secret_hash, org_id, key_id, role FROM undolog_api_keys
WHERE secret_hash = ANY ($1::bytea[]) AND revoked_at IS NULL`;

/** Looks up the keys of many requests at once. */
export async function findKeys(tx: Tx, hashes: readonly Buffer[]): Promise<FoundKey[]> {
  const rows = await tx.query<{ secret_hash: Buffer; org_id: string; key_id: string; role: Role }>({
    name: 'find_keys',
    text: FIND,
    values: [hashes],
  });
  return rows.map((row) => ({ secretHash: row.secret_hash, orgId: row.org_id, keyId: row.key_id, role: row.role }));
}

/** Whether a key has not been revoked. */
export async function stillValid(tx: Tx, orgId: string, keyId: string): Promise<boolean> {
  const rows = await tx.query({
    name: 'key_still_valid',
    text: 'SELECT 1 FROM undolog_api_keys WHERE org_id = $1 AND key_id = $2 AND revoked_at IS NULL',
    values: [orgId, keyId],
  });
  return rows.length > 0;
}
