import type { BreakerState } from '../domain/breaker.js';
import type { Tx } from './database.js';

export interface BreakerView {
  readonly state: BreakerState;
  /** When it opened or closed; null: it has never met a failure. */
  readonly since: string | null;
  /** When an entry is let through to try; null: closed. */
  readonly retry_at: string | null;
}

export const UNTROUBLED: BreakerView = { state: 'closed', since: null, retry_at: null };

const READ = `
SELECT host, state, since, retry_at FROM undolog_breakers
WHERE host = ANY ($2::text[]) AND org_id = $1`;

/** The breakers of an org's hosts; those that never met a failure are left out. */
export async function readBreakers(
  tx: Tx,
  orgId: string,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, BreakerView>> {
  const rows = await tx.query<BreakerView & { host: string }>({
    name: 'read_breakers',
    text: READ,
    values: [orgId, hosts],
  });
  return new Map(rows.map(({ host, ...view }) => [host, view]));
}

/** Every breaker that is not closed, of all orgs. */
export function findOpenBreakers(tx: Tx): Promise<{ org_id: string; host: string }[]> {
  return tx.query({
    name: 'find_open_breakers',
    text: `SELECT org_id, host FROM undolog_breakers WHERE state <> 'closed'`,
  });
}
