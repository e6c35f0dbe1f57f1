import type { Compensation } from '../domain/compensation.js';
import { UnreadableValue, type UnsealFault } from '../domain/vault.js';
import type { Database } from '../store/database.js';
import { readCompensation } from '../store/read-compensations.js';

const MAX_KEPT = 10_000;

/** Finds how an entry is undone, or tells why that can't be read. */
export type FindCompensation = (
  orgId: string,
  fnName: string,
  version: string,
) => Promise<Compensation | { readonly fault: UnsealFault }>;

/** Reads each version of a compensation once: a version never changes. */
export function cacheCompensations(database: Database): FindCompensation {
  const kept = new Map<string, Compensation>();
  return async (orgId, fnName, version) => {
    const key = JSON.stringify([orgId, fnName, version]);
    const known = kept.get(key);
    if (known) return known;
    const registered = await readCompensation(database, orgId, fnName, version).catch((error: unknown) => {
      if (error instanceof UnreadableValue) return { fault: error.fault };
      throw error;
    });
    if (registered && 'fault' in registered) return registered;
    if (!registered) throw new Error(`compensation ${fnName}@${version} is not in the registry`);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, registered.spec);
    return registered.spec;
  };
}
