/**
 * The judge of a run. It reads the vendors' ledgers and nothing else: what the agent or UndoLog believe to have
 * happened plays no part here.
 */
import { VENDOR_KINDS, type LedgerLine, type Ledgers, type VendorKind } from './ledger.js';

export interface BookingFacts {
  readonly kind: VendorKind;
  readonly bookingId: string;
  readonly bookingKey: string | null;
  /** Charged less paid back. */
  committedCents: number;
  /** The cancellation that took, or undefined while the booking stands. */
  cancelledBy: { readonly key: string | null; readonly receivedUs: number } | undefined;
  /** When the vendor first heard of a cancellation, whether it took or not. */
  firstCancelReceiptUs: number | undefined;
  readonly cancelKeys: Set<string | null>;
}

export interface TripFacts {
  readonly trip: string;
  readonly bookings: BookingFacts[];
}

export interface OrderViolation {
  readonly trip: string;
  readonly detail: string;
}

export interface LedgerVerdict {
  readonly tripsCompleted: number;
  readonly failedSagas: number;
  /** Money left committed on bookings of trips that did not complete. */
  readonly orphanedCents: number;
  /** Failed sagas with no money left committed. */
  readonly fullyCompensated: number;
  readonly orderViolations: readonly OrderViolation[];
}

/** Gathers the vendors' lines by trip; a trip that only met refusals is there, without bookings. */
export function readTrips(ledgers: Ledgers): Map<string, TripFacts> {
  const trips = new Map<string, TripFacts>();
  for (const kind of VENDOR_KINDS) {
    for (const line of ledgers[kind]) {
      let facts = trips.get(line.trip);
      if (facts === undefined) trips.set(line.trip, (facts = { trip: line.trip, bookings: [] }));
      readLine(facts, kind, line);
    }
  }
  return trips;
}

function readLine(facts: TripFacts, kind: VendorKind, line: LedgerLine): void {
  if (line.action === 'book') {
    if (line.outcome !== 'booked' || line.booking_id === null) return;
    facts.bookings.push({
      kind,
      bookingId: line.booking_id,
      bookingKey: line.idempotency_key,
      committedCents: line.amount_cents,
      cancelledBy: undefined,
      firstCancelReceiptUs: undefined,
      cancelKeys: new Set(),
    });
    return;
  }
  const booking = facts.bookings.find(({ bookingId }) => bookingId === line.booking_id);
  if (booking === undefined) return;
  booking.cancelKeys.add(line.idempotency_key);
  booking.firstCancelReceiptUs = Math.min(booking.firstCancelReceiptUs ?? Infinity, line.received_us);
  if (line.outcome !== 'cancelled') return;
  booking.committedCents += line.amount_cents;
  booking.cancelledBy = { key: line.idempotency_key, receivedUs: line.received_us };
}

/** A trip is complete when every vendor's booking of it stands. */
export function isComplete(facts: TripFacts | undefined): boolean {
  const standing = standingBookings(facts).map(({ kind }) => kind);
  return VENDOR_KINDS.every((kind) => standing.includes(kind));
}

export function standingBookings(facts: TripFacts | undefined): BookingFacts[] {
  return (facts?.bookings ?? []).filter(({ cancelledBy }) => cancelledBy === undefined);
}

/** Judges a run by its vendors' ledgers. `expectedTrips` adds the trips that no vendor ever heard of. */
export function auditLedgers(ledgers: Ledgers, expectedTrips: readonly string[]): LedgerVerdict {
  const trips = readTrips(ledgers);
  const names = new Set([...expectedTrips, ...trips.keys()]);
  const failed = [...names].filter((trip) => !isComplete(trips.get(trip)));
  const leftCents = failed.map((trip) => committedCents(trips.get(trip)));
  return {
    tripsCompleted: names.size - failed.length,
    failedSagas: failed.length,
    orphanedCents: leftCents.reduce((sum, cents) => sum + cents, 0),
    fullyCompensated: leftCents.filter((cents) => cents === 0).length,
    orderViolations: [...trips.values()].flatMap(orderViolations),
  };
}

function committedCents(facts: TripFacts | undefined): number {
  return (facts?.bookings ?? []).reduce((sum, booking) => sum + booking.committedCents, 0);
}

/**
 * The undo runs car, hotel, flight: a vendor may hear of a cancellation only after every later booking is cancelled.
 * A vendor that heard too early is a violation even when it refused.
 */
function orderViolations(facts: TripFacts): OrderViolation[] {
  const violations: OrderViolation[] = [];
  for (const earlier of facts.bookings) {
    const heardUs = earlier.firstCancelReceiptUs;
    if (heardUs === undefined) continue;
    for (const later of facts.bookings) {
      if (VENDOR_KINDS.indexOf(later.kind) <= VENDOR_KINDS.indexOf(earlier.kind)) continue;
      if (later.cancelledBy !== undefined && later.cancelledBy.receivedUs < heardUs) continue;
      violations.push({
        trip: facts.trip,
        detail: `the ${earlier.kind} was told to cancel before the ${later.kind} was cancelled`,
      });
    }
  }
  return violations;
}
