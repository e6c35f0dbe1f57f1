import { VENDOR_KINDS, type VendorKind } from './ledger.js';
import type { UndoLogClient } from './undolog-client.js';
import type { VendorUrls } from './vendors.js';

export const COMPENSATION_VERSION = '1';

export interface CompensationRetry {
  /** Calls after the first one. */
  readonly maxRetries: number;
  readonly initialMs: number;
  readonly maxMs: number;
  /** False: undos of a vendor that is down use up their calls instead of waiting for it. */
  readonly waitOutOutages: boolean;
}

/** The name of the inverse of `book_{kind}`. */
export function cancelName(kind: VendorKind): string {
  return `cancel_${kind}`;
}

/** The vendor that a compensation belongs to, or undefined for a name that isn't the demo's. */
export function kindOfCancel(fnName: string | null): VendorKind | undefined {
  return VENDOR_KINDS.find((kind) => cancelName(kind) === fnName);
}

/**
 * Registers the inverse of each booking before any booking is made.
 *
 * A cancellation counts once the vendor's own record shows it (`confirm`), not when the vendor says 200. The vendors
 * answer 409 while the same key is still under way, which is worth another try.
 */
export async function registerCompensations(
  client: UndoLogClient,
  vendors: VendorUrls,
  retry: CompensationRetry,
): Promise<void> {
  for (const kind of VENDOR_KINDS) {
    await client.put(`/v1/compensations/${cancelName(kind)}/${COMPENSATION_VERSION}`, {
      url: `${vendors[kind]}/cancel`,
      timeout_ms: 5_000,
      retry: { max_retries: retry.maxRetries, initial_ms: retry.initialMs, multiplier: 2, max_ms: retry.maxMs },
      wait_out_outages: retry.waitOutOutages,
      outcomes: { retry: [409] },
      confirm: {
        url: `${vendors[kind]}/bookings/{args.booking_id}`,
        done_when: { pointer: '/state', equals: 'cancelled' },
        budget_ms: 5_000,
        interval_ms: 50,
      },
    });
  }
}
