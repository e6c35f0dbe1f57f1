/** Holds what UndoLog says against what the vendors wrote down. Every difference is a disagreement: the demo fails. */
import {
  auditLedgers,
  isComplete,
  readTrips,
  standingBookings,
  type BookingFacts,
  type TripFacts,
} from './audit-ledgers.js';
import type { Ledgers } from './ledger.js';
import type { TripClaim, UndoClaim } from './undolog-claims.js';

export interface Disagreement {
  readonly trip: string;
  readonly detail: string;
}

export interface Expectation {
  /** Whether sessions may still be on their way: a vendor that they wait for is down. */
  readonly mayWait: boolean;
}

/** Every way in which the ledgers contradict UndoLog, or break its promises of order and identity; empty is good. */
export function compareClaims(
  claims: readonly TripClaim[],
  ledgers: Ledgers,
  expectation: Expectation,
): Disagreement[] {
  const trips = readTrips(ledgers);
  const claimed = new Map(claims.map((claim) => [claim.trip, claim]));
  const found: Disagreement[] = [...auditLedgers(ledgers, []).orderViolations];
  for (const claim of claims) {
    const facts = trips.get(claim.trip);
    const details = [
      ...compareSession(claim, facts, expectation),
      ...claim.undos.flatMap((undo) => compareUndo(undo, facts)),
    ];
    found.push(...details.map((detail) => ({ trip: claim.trip, detail })));
  }
  for (const facts of trips.values()) {
    const undos = claimed.get(facts.trip)?.undos ?? [];
    const details = facts.bookings.flatMap((booking) => compareBooking(booking, facts, undos));
    found.push(...details.map((detail) => ({ trip: facts.trip, detail })));
  }
  return found;
}

function compareSession(claim: TripClaim, facts: TripFacts | undefined, { mayWait }: Expectation): string[] {
  const standing = standingBookings(facts).map(({ bookingId }) => bookingId);
  switch (claim.state) {
    case 'completed':
      return isComplete(facts) ? [] : ['UndoLog says completed, but not every booking stands'];
    case 'compensated':
      if (!claim.fullyCompensated) return ['UndoLog says compensated, but not fully'];
      return standing.length === 0 ? [] : [`UndoLog says compensated, but ${standing.join(', ')} still stands`];
    case 'halted':
      return claim.fullyCompensated ? ['UndoLog says halted and fully compensated at once'] : [];
    case 'compensating':
      if (!mayWait) return [`UndoLog never settled it: ${claim.state}`];
      return claim.fullyCompensated ? ['UndoLog says compensating and fully compensated at once'] : [];
    case 'active':
    case 'failed':
    case 'resolved':
      return [`UndoLog never settled it: ${claim.state}`];
    default:
      return claim.state satisfies never;
  }
}

/** What UndoLog says of one undo against the booking that it is for. */
function compareUndo(undo: UndoClaim, facts: TripFacts | undefined): string[] {
  const booking = facts?.bookings.find(({ bookingKey }) => bookingKey === undo.bookingKey);
  if (booking === undefined) {
    // Only a call that was never applied leaves no booking, and its undo is skipped.
    return undo.state === 'skipped' && undo.bookingId === null
      ? []
      : [`UndoLog knows a ${undo.kind} booking that isn't`];
  }
  if (booking.bookingId !== undo.bookingId)
    return [`UndoLog has ${undo.bookingId ?? 'no result'} for ${booking.bookingId}`];
  const cancelled = booking.cancelledBy !== undefined;
  switch (undo.state) {
    case 'compensated':
      return cancelled ? [] : [`UndoLog says ${booking.bookingId} is compensated, but it still stands`];
    case 'pending':
    case 'active':
    case 'skipped':
      return booking.cancelKeys.size === 0
        ? []
        : [`${booking.bookingId} was told to cancel, but its undo is ${undo.state}`];
    case 'failed':
      return cancelled ? [`UndoLog says the undo of ${booking.bookingId} failed, but it is cancelled`] : [];
    case 'running':
    case 'unconfirmed':
      // Not known, and said so: whatever the ledger shows doesn't contradict it.
      return [];
    default:
      return undo.state satisfies never;
  }
}

/** What the vendor wrote down about one booking against UndoLog's entries of that trip. */
function compareBooking(booking: BookingFacts, facts: TripFacts, undos: readonly UndoClaim[]): string[] {
  const found: string[] = [];
  const own = undos.filter(({ bookingKey }) => bookingKey === booking.bookingKey);
  if (own.length === 0) found.push(`UndoLog knows nothing of ${booking.bookingId}`);
  const twins = facts.bookings.filter(({ kind }) => kind === booking.kind);
  if (twins.length > 1) found.push(`${booking.bookingId} is one of ${twins.length} ${booking.kind} bookings`);
  const ownKeys = new Set<string | null>(own.map(({ undoId }) => `undo-${undoId}`));
  for (const key of booking.cancelKeys) {
    if (!ownKeys.has(key))
      found.push(`${booking.bookingId} was told to cancel under the foreign key ${key ?? '(none)'}`);
  }
  return found;
}
