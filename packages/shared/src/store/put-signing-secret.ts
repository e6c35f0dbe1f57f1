import { SIGNING_OVERLAP_HOURS } from '../domain/limits.js';
import type { Operation } from './operation.js';
import { placeOfSigningSecret } from './read-signing-secrets.js';

export interface PutSigningSecret {
  readonly secret: string;
  /** The key's id. */
  readonly actor: string;
}

const LOCK = 'SELECT secret FROM undolog_signing_secrets WHERE org_id = $1 FOR UPDATE';

const PUT = `
WITH put AS (
  INSERT INTO undolog_signing_secrets AS kept (org_id, secret) VALUES ($1, $2)
  ON CONFLICT (org_id) DO UPDATE SET secret = excluded.secret, previous = kept.secret,
    previous_until = clock_timestamp() + interval '${SIGNING_OVERLAP_HOURS} hours'
)
INSERT INTO undolog_audit_log (org_id, actor, action) VALUES ($1, $3, 'signing_secret.set')`;

/** From now on the org's calls are signed with this secret; the one before goes on signing beside it for a while. */
export const putSigningSecret: Operation<PutSigningSecret, void> = {
  name: 'put_signing_secret',
  async run(tx, orgId, { secret, actor }) {
    const place = placeOfSigningSecret(orgId);
    const [kept] = await tx.query<{ secret: Buffer }>({ text: LOCK, values: [orgId] });
    const known = kept && tx.vault.unseal(place, kept.secret);
    // A repeat must not push out the one before.
    if (known?.ok && known.text === secret) return;
    await tx.query({ text: PUT, values: [orgId, tx.vault.seal(place, secret), actor] });
  },
};
