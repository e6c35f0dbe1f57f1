import type { VendorAnswer } from './idempotency-keys.js';
import type { LedgerLine, LedgerOutcome, VendorKind } from './ledger.js';
import { refundCents, TARIFFS, type BookingDetails } from './tariffs.js';

export interface Booking {
  readonly booking_id: string;
  readonly trip: string;
  readonly cost_cents: number;
  state: 'booked' | 'cancelled';
  refunded_cents: number;
}

/** A request as it reached the vendor. */
export interface Receipt {
  readonly receivedUs: number;
  readonly idempotencyKey: string | null;
}

/**
 * One vendor's record: its bookings as they stand now, and the ledger of everything that reached it.
 *
 * It knows nothing of UndoLog and nothing of the other vendors.
 */
export class VendorBooks {
  readonly kind: VendorKind;
  readonly #bookings = new Map<string, Booking>();
  readonly #lines: LedgerLine[] = [];
  readonly #soldOutTrips: ReadonlySet<string>;

  constructor(kind: VendorKind, soldOutTrips: Iterable<string> = []) {
    this.kind = kind;
    this.#soldOutTrips = new Set(soldOutTrips);
  }

  get lines(): readonly LedgerLine[] {
    return this.#lines;
  }

  find(bookingId: string): Readonly<Booking> | undefined {
    return this.#bookings.get(bookingId);
  }

  /** 201 with the booking, 409 `inventory_unavailable` when nothing is left, 400 when the request is incomplete. */
  book(receipt: Receipt, trip: string, details: BookingDetails): VendorAnswer {
    const costCents = TARIFFS[this.kind].priceCents(details);
    if (costCents === undefined) return this.#refuse(receipt, 'book', trip, null, 400, 'incomplete_request');
    if (this.#soldOutTrips.has(trip)) return this.#refuse(receipt, 'book', trip, null, 409, 'inventory_unavailable');

    const booking: Booking = {
      booking_id: `${this.kind}-${String(this.#bookings.size + 1).padStart(4, '0')}`,
      trip,
      cost_cents: costCents,
      state: 'booked',
      refunded_cents: 0,
    };
    this.#bookings.set(booking.booking_id, booking);
    this.note(receipt, 'book', 'booked', 201, trip, booking.booking_id, costCents);
    return { status: 201, body: { ...booking } };
  }

  /** 200 with the booking as cancelled, 404 for a booking that never was, the tariff's status for a second time. */
  cancel(receipt: Receipt, trip: string, bookingId: string): VendorAnswer {
    const { cancellation } = TARIFFS[this.kind];
    const booking = this.#bookings.get(bookingId);
    if (booking === undefined || booking.trip !== trip) {
      return this.#refuse(receipt, 'cancel', trip, bookingId, 404, 'no_such_booking');
    }
    if (booking.state === 'cancelled') {
      const status = cancellation.statusWhenAlreadyCancelled;
      return this.#refuse(receipt, 'cancel', trip, bookingId, status, 'already_cancelled');
    }
    booking.state = 'cancelled';
    booking.refunded_cents = refundCents(booking.cost_cents, cancellation);
    this.note(receipt, 'cancel', 'cancelled', 200, trip, bookingId, -booking.refunded_cents);
    return { status: 200, body: { ...booking } };
  }

  /** Appends a line to the ledger; the only place that does. */
  note(
    receipt: Receipt,
    action: LedgerLine['action'],
    outcome: LedgerOutcome,
    status: number,
    trip: string,
    bookingId: string | null,
    amountCents = 0,
  ): void {
    this.#lines.push({
      sequence: this.#lines.length + 1,
      received_us: receipt.receivedUs,
      action,
      outcome,
      http_status: status,
      trip,
      booking_id: bookingId,
      amount_cents: amountCents,
      idempotency_key: receipt.idempotencyKey,
    });
  }

  #refuse(
    receipt: Receipt,
    action: LedgerLine['action'],
    trip: string,
    bookingId: string | null,
    status: number,
    code: string,
  ): VendorAnswer {
    this.note(receipt, action, 'refused', status, trip, bookingId);
    return { status, body: { code, trip, booking_id: bookingId } };
  }
}
