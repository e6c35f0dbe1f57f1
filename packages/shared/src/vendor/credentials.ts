import type { Compensation } from '../domain/compensation.js';
import type { UnreadableCode } from '../domain/settlement.js';
import type { Unsealed } from '../domain/vault.js';
import { monotonicMs } from '../runtime/clock.js';
import type { Database } from '../store/database.js';
import { readSecrets } from '../store/read-secrets.js';
import { readSigningSecrets } from '../store/read-signing-secrets.js';

/** What the calls of one org carry beside what their compensation says in the clear. */
export interface Credentials {
  /** Values of the secrets that headers name. */
  readonly secrets: ReadonlyMap<string, string>;
  /** None: the org has none, and its calls are not signed. */
  readonly signingSecrets: readonly string[];
}

export const NO_CREDENTIALS: Credentials = { secrets: new Map(), signingSecrets: [] };

/** Finds what a call needs, or tells why there can be no call. */
export type FindCredentials = (
  orgId: string,
  spec: Compensation,
) => Promise<Credentials | { readonly fault: UnreadableCode }>;

/** A signing secret that was set is used after this long at the latest. */
const SIGNING_KEPT_MS = 1000;
const MAX_ORGS_KEPT = 10_000;

interface Kept {
  readonly readAtMs: number;
  readonly secrets: Promise<readonly Unsealed[]>;
}

/**
 * Secrets that headers name are read for each try, so that a re-drive sends what was rotated a moment ago. What signs is
 * needed by every call and kept for a second: at a rotation the receiver knows both.
 */
export function openCredentials(database: Database): FindCredentials {
  const kept = new Map<string, Kept>();

  function signingSecrets(orgId: string): Promise<readonly Unsealed[]> {
    const known = kept.get(orgId);
    if (known && monotonicMs() - known.readAtMs < SIGNING_KEPT_MS) return known.secrets;
    const secrets = readSigningSecrets(database, orgId);
    if (kept.size >= MAX_ORGS_KEPT) kept.clear();
    kept.set(orgId, { readAtMs: monotonicMs(), secrets });
    // Whoever asked is told; the next one asks anew.
    secrets.catch(() => kept.delete(orgId));
    return secrets;
  }

  return async (orgId, spec) => {
    const names = Object.values(spec.headers).flatMap((value) => (typeof value === 'string' ? [] : [value.secret]));
    const [found, signing] = await Promise.all([
      names.length > 0 ? readSecrets(database, orgId, names) : new Map<string, Unsealed>(),
      signingSecrets(orgId),
    ]);
    const secrets = new Map<string, string>();
    for (const name of names) {
      const secret = found.get(name);
      if (!secret) return { fault: 'unknown_secret' };
      if (!secret.ok) return { fault: secret.fault };
      secrets.set(name, secret.text);
    }
    const [present] = signing;
    if (present && !present.ok) return { fault: present.fault };
    // The one before only helps while it can be read.
    return { secrets, signingSecrets: signing.flatMap((secret) => (secret.ok ? [secret.text] : [])) };
  };
}
