import { wordBytes } from './json-bytes.js';
import type { Operation } from './operation.js';

export interface PutSecret {
  readonly name: string;
  readonly value: string;
  /** The key's id. */
  readonly actor: string;
}

const PUT = `
WITH put AS (
  INSERT INTO undolog_secrets (org_id, name, value) VALUES ($1, $2, $3)
  ON CONFLICT (org_id, name) DO UPDATE SET value = excluded.value, updated_at = clock_timestamp()
)
INSERT INTO undolog_audit_log (org_id, actor, action, reason) VALUES ($1, $4, 'secret.set', $5)`;

/** Keeps a secret, or replaces it: the next call that names it sends the new value. The audit log has its name. */
export const putSecret: Operation<PutSecret, void> = {
  name: 'put_secret',
  async run(tx, orgId, { name, value, actor }) {
    const sealed = tx.vault.seal({ orgId, column: 'secret', row: name }, value);
    await tx.query({ text: PUT, values: [orgId, name, sealed, actor, wordBytes(name)] });
  },
};
