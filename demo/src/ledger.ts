/** What a vendor writes down: one line per request it received, appended and never changed. */

/** In the order in which a trip books them; the undo runs the other way round. */
export const VENDOR_KINDS = ['flight', 'hotel', 'car'] as const;
export type VendorKind = (typeof VENDOR_KINDS)[number];

export type LedgerAction = 'book' | 'cancel';

/**
 * - `booked`, `cancelled`: the request changed the vendor's record.
 * - `refused`: it did not, and the answer says why.
 * - `unavailable`: the endpoint was down; nothing was looked at.
 * - `in_flight`, `repeated`: the same idempotency key is under way, or was answered before.
 */
export type LedgerOutcome = 'booked' | 'cancelled' | 'refused' | 'unavailable' | 'in_flight' | 'repeated';

export interface LedgerLine {
  /** From 1, in the order in which the vendor answered. */
  readonly sequence: number;
  /**
   * When the request arrived, in microseconds of the machine's monotonic clock. All vendors run on one machine, so
   * receipts of different vendors can be compared.
   */
  readonly received_us: number;
  readonly action: LedgerAction;
  readonly outcome: LedgerOutcome;
  readonly http_status: number;
  readonly trip: string;
  readonly booking_id: string | null;
  /** Positive: charged to the traveller. Negative: paid back. */
  readonly amount_cents: number;
  readonly idempotency_key: string | null;
}

export type Ledgers = Readonly<Record<VendorKind, readonly LedgerLine[]>>;
