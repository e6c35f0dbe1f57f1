import type { Place, Unsealed } from '../domain/vault.js';
import type { Tx } from './database.js';

/** The present one and the one before take turns in one row, so they have one place. */
export function placeOfSigningSecret(orgId: string): Place {
  return { orgId, column: 'signing_secret', row: '' };
}

const READ = `
SELECT secret, CASE WHEN previous_until > clock_timestamp() THEN previous END AS previous
FROM undolog_signing_secrets WHERE org_id = $1`;

/** What signs the org's calls, the present one first; none where the org has set none. */
export async function readSigningSecrets(tx: Tx, orgId: string): Promise<Unsealed[]> {
  const [row] = await tx.query<{ secret: Buffer; previous: Buffer | null }>({
    name: 'read_signing_secrets',
    text: READ,
    values: [orgId],
  });
  if (!row) return [];
  const place = placeOfSigningSecret(orgId);
  return [row.secret, ...(row.previous ? [row.previous] : [])].map((bytes) => tx.vault.unseal(place, bytes));
}
