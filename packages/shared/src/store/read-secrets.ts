import type { Unsealed } from '../domain/vault.js';
import type { Tx } from './database.js';

/** What may be shown of a secret. */
export interface SecretView {
  readonly name: string;
  readonly updated_at: string;
}

export function listSecrets(tx: Tx, orgId: string): Promise<SecretView[]> {
  return tx.query<SecretView>({
    text: 'SELECT name, updated_at FROM undolog_secrets WHERE org_id = $1 ORDER BY name',
    values: [orgId],
  });
}

/** Those that the org has of these, as far as they can be read. */
export async function readSecrets(tx: Tx, orgId: string, names: readonly string[]): Promise<Map<string, Unsealed>> {
  const rows = await tx.query<{ name: string; value: Buffer }>({
    name: 'read_secrets',
    text: 'SELECT name, value FROM undolog_secrets WHERE org_id = $1 AND name = ANY ($2::text[])',
    values: [orgId, names],
  });
  return new Map(rows.map(({ name, value }) => [name, tx.vault.unseal({ orgId, column: 'secret', row: name }, value)]));
}
