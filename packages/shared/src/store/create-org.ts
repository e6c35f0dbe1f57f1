import { createKey } from './api-keys.js';
import type { Tx } from './database.js';

export interface NewOrg {
  readonly orgId: string;
  readonly name: string;
  /** Its first key, an admin's. */
  readonly keyId: string;
  readonly secretHash: Buffer;
}

export async function createOrg(tx: Tx, org: NewOrg): Promise<void> {
  await tx.query({
    text: 'INSERT INTO undolog_orgs (org_id, name) VALUES ($1, $2)',
    values: [org.orgId, org.name],
  });
  await createKey(tx, org.orgId, { keyId: org.keyId, role: 'admin', name: null, secretHash: org.secretHash });
}
