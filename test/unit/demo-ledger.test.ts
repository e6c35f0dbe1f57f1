import { describe, expect, test } from 'vitest';
import { auditLedgers } from '@undolog/demo/audit-ledgers';
import { compareClaims } from '@undolog/demo/compare-claims';
import { CAR_FAILURE_RATE, createTripBatch } from '@undolog/demo/itineraries';
import { VENDOR_KINDS, type LedgerLine, type Ledgers, type VendorKind } from '@undolog/demo/ledger';
import type { TripClaim, UndoClaim } from '@undolog/demo/undolog-claims';
import { reportRun } from '@undolog/demo/report';
import { VendorBooks } from '@undolog/demo/vendor-books';

const DETAILS = { distance_km: 1_000, nights: 2, stars: 3, days: 2, seats: 4 };
const FLIGHT_CENTS = 4_500 + 1_000 * 12;
const HOTEL_CENTS = 2 * (3_500 + 3 * 2_200);

/** Three vendors, a car vendor without cars for `t-2`, and a clock that ticks with every request. */
function openVendors() {
  const books = Object.fromEntries(
    VENDOR_KINDS.map((kind) => [kind, new VendorBooks(kind, kind === 'car' ? ['t-2'] : [])]),
  ) as Record<VendorKind, VendorBooks>;
  let nowUs = 0;
  const receipt = (idempotencyKey: string) => ({ receivedUs: (nowUs += 1), idempotencyKey });
  return {
    book: (kind: VendorKind, trip: string) => books[kind].book(receipt(`${trip}-${kind}`), trip, DETAILS),
    cancel: (kind: VendorKind, trip: string, bookingId: string) =>
      books[kind].cancel(receipt(`undo-${trip}-${kind}`), trip, bookingId),
    unavailable: (kind: VendorKind, trip: string, bookingId: string) =>
      books[kind].note(receipt(`undo-${trip}-${kind}`), 'cancel', 'unavailable', 503, trip, bookingId),
    ledgers: (): Ledgers => ({ flight: books.flight.lines, hotel: books.hotel.lines, car: books.car.lines }),
  };
}

/** `t-1` gets all three bookings; `t-2` fails at the car, with flight-0002 and hotel-0002 charged. */
function bookBothTrips() {
  const vendors = openVendors();
  for (const trip of ['t-1', 't-2']) for (const kind of VENDOR_KINDS) vendors.book(kind, trip);
  return vendors;
}

function undo(trip: string, kind: VendorKind, state: UndoClaim['state'], bookingId: string | null): UndoClaim {
  return { undoId: `${trip}-${kind}`, kind, state, bookingId, bookingKey: `${trip}-${kind}` };
}

/** What UndoLog says after it completed `t-1` and compensated `t-2`. */
function claimsAfterUnwind(): [TripClaim, TripClaim] {
  return [
    {
      trip: 't-1',
      state: 'completed',
      fullyCompensated: false,
      undos: VENDOR_KINDS.map((kind) => undo('t-1', kind, 'active', `${kind}-0001`)),
    },
    {
      trip: 't-2',
      state: 'compensated',
      fullyCompensated: true,
      undos: [
        undo('t-2', 'car', 'skipped', null),
        undo('t-2', 'hotel', 'compensated', 'hotel-0002'),
        undo('t-2', 'flight', 'compensated', 'flight-0002'),
      ],
    },
  ];
}

function unwindInOrder() {
  const vendors = bookBothTrips();
  vendors.cancel('hotel', 't-2', 'hotel-0002');
  vendors.cancel('flight', 't-2', 'flight-0002');
  return vendors;
}

function tamper(ledgers: Ledgers, kind: VendorKind, change: (line: LedgerLine) => LedgerLine | undefined): Ledgers {
  return { ...ledgers, [kind]: ledgers[kind].map(change).filter((line) => line !== undefined) };
}

const details = (claims: readonly TripClaim[], ledgers: Ledgers): string[] =>
  compareClaims(claims, ledgers, { mayWait: false }).map(({ trip, detail }) => `${trip}: ${detail}`);

describe('the judgement of the vendors’ ledgers', () => {
  test('counts as orphaned the money on bookings of trips that did not complete, and no other', () => {
    expect(auditLedgers(bookBothTrips().ledgers(), ['t-1', 't-2'])).toEqual({
      tripsCompleted: 1,
      failedSagas: 1,
      orphanedCents: FLIGHT_CENTS + HOTEL_CENTS,
      fullyCompensated: 0,
      orderViolations: [],
    });
  });

  test('counts a failed trip as fully compensated only when none of its money is left', () => {
    const vendors = bookBothTrips();
    vendors.cancel('hotel', 't-2', 'hotel-0002');
    expect(auditLedgers(vendors.ledgers(), [])).toMatchObject({ orphanedCents: FLIGHT_CENTS, fullyCompensated: 0 });
    vendors.cancel('flight', 't-2', 'flight-0002');
    expect(auditLedgers(vendors.ledgers(), [])).toMatchObject({ orphanedCents: 0, fullyCompensated: 1 });
  });

  test('counts a trip that no vendor ever heard of as failed', () => {
    expect(auditLedgers(openVendors().ledgers(), ['t-9'])).toMatchObject({ tripsCompleted: 0, failedSagas: 1 });
  });

  test('finds no order violation when the hotel was cancelled before the flight', () => {
    expect(auditLedgers(unwindInOrder().ledgers(), []).orderViolations).toEqual([]);
  });

  test('finds an order violation when the flight was cancelled before the hotel', () => {
    const vendors = bookBothTrips();
    vendors.cancel('flight', 't-2', 'flight-0002');
    vendors.cancel('hotel', 't-2', 'hotel-0002');
    expect(auditLedgers(vendors.ledgers(), []).orderViolations).toMatchObject([{ trip: 't-2' }]);
  });

  test('finds an order violation when the flight vendor was asked, even in vain, while the hotel stood', () => {
    const vendors = bookBothTrips();
    vendors.unavailable('flight', 't-2', 'flight-0002');
    expect(auditLedgers(vendors.ledgers(), []).orderViolations).toHaveLength(1);
  });
});

describe('the comparison of UndoLog with the ledgers', () => {
  test('agrees when every word of UndoLog is in the ledgers', () => {
    expect(details(claimsAfterUnwind(), unwindInOrder().ledgers())).toEqual([]);
  });

  test('disagrees when the cancellation behind a compensated undo is taken out of the ledger', () => {
    const isCancellation = (line: LedgerLine) => line.outcome === 'cancelled';
    const ledgers = tamper(unwindInOrder().ledgers(), 'flight', (line) => (isCancellation(line) ? undefined : line));
    expect(details(claimsAfterUnwind(), ledgers)).toEqual([
      't-2: UndoLog says compensated, but flight-0002 still stands',
      't-2: UndoLog says flight-0002 is compensated, but it still stands',
    ]);
  });

  test('disagrees when the vendor answered a cancellation without doing it', () => {
    const ledgers = tamper(unwindInOrder().ledgers(), 'hotel', (line) =>
      line.outcome === 'cancelled' ? { ...line, outcome: 'refused' } : line,
    );
    expect(details(claimsAfterUnwind(), ledgers)).toContain(
      't-2: UndoLog says hotel-0002 is compensated, but it still stands',
    );
  });

  test('disagrees when a booking of a completed trip was cancelled', () => {
    const vendors = unwindInOrder();
    vendors.cancel('car', 't-1', 'car-0001');
    expect(details(claimsAfterUnwind(), vendors.ledgers())).toEqual([
      't-1: UndoLog says completed, but not every booking stands',
      't-1: car-0001 was told to cancel, but its undo is active',
    ]);
  });

  test('disagrees when a ledger holds a booking that UndoLog knows nothing of', () => {
    const vendors = unwindInOrder();
    vendors.book('flight', 't-3');
    expect(details(claimsAfterUnwind(), vendors.ledgers())).toEqual(['t-3: UndoLog knows nothing of flight-0003']);
  });

  test('disagrees when one cancellation reached the vendor under two keys', () => {
    const ledgers = unwindInOrder().ledgers();
    const flight = ledgers.flight.flatMap((line) =>
      line.action === 'cancel'
        ? [line, { ...line, outcome: 'refused' as const, idempotency_key: 'undo-other' }]
        : [line],
    );
    expect(details(claimsAfterUnwind(), { ...ledgers, flight })).toEqual([
      't-2: flight-0002 was told to cancel under the foreign key undo-other',
    ]);
  });

  test('disagrees when a session never settled', () => {
    const [done, unwound] = claimsAfterUnwind();
    const claims = [done, { ...unwound, state: 'compensating' as const, fullyCompensated: false }];
    expect(details(claims, unwindInOrder().ledgers())).toEqual(['t-2: UndoLog never settled it: compensating']);
  });

  test('agrees with a session that waits for its vendor, and only while it may', () => {
    const vendors = bookBothTrips();
    vendors.unavailable('hotel', 't-2', 'hotel-0002');
    const [done, unwound] = claimsAfterUnwind();
    const undos = [
      undo('t-2', 'car', 'skipped', null),
      undo('t-2', 'hotel', 'running', 'hotel-0002'),
      undo('t-2', 'flight', 'active', 'flight-0002'),
    ];
    const waiting = { ...unwound, state: 'compensating' as const, fullyCompensated: false, undos };
    const ledgers = vendors.ledgers();
    expect(compareClaims([done, waiting], ledgers, { mayWait: true })).toEqual([]);
    expect(details([done, waiting], ledgers)).toEqual(['t-2: UndoLog never settled it: compensating']);
    const claims = [done, waiting];
    const run = { run: 'x', verdict: auditLedgers(ledgers, []), claims, disagreements: [], durationMs: 1 };
    expect(reportRun(run)).toMatchObject({ waiting: 1, halted: 0, unconfirmed: 0, fully_compensated: 0 });
  });

  test('disagrees, also while sessions may wait, when the flight was told to cancel before the hotel', () => {
    const vendors = bookBothTrips();
    vendors.cancel('flight', 't-2', 'flight-0002');
    const [done, unwound] = claimsAfterUnwind();
    const undos = [
      undo('t-2', 'car', 'skipped', null),
      undo('t-2', 'hotel', 'running', 'hotel-0002'),
      undo('t-2', 'flight', 'active', 'flight-0002'),
    ];
    const waiting = { ...unwound, state: 'compensating' as const, fullyCompensated: false, undos };
    const found = compareClaims([done, waiting], vendors.ledgers(), { mayWait: true }).map(({ detail }) => detail);
    expect(found).toEqual([
      'the flight was told to cancel before the hotel was cancelled',
      'flight-0002 was told to cancel, but its undo is active',
    ]);
  });

  test('agrees with halted and unconfirmed, for which nothing is claimed that the ledger would have to show', () => {
    const vendors = bookBothTrips();
    vendors.unavailable('hotel', 't-2', 'hotel-0002');
    const [done, unwound] = claimsAfterUnwind();
    const undos = [
      undo('t-2', 'car', 'skipped', null),
      undo('t-2', 'hotel', 'unconfirmed', 'hotel-0002'),
      undo('t-2', 'flight', 'active', 'flight-0002'),
    ];
    const claims = [done, { ...unwound, state: 'halted' as const, fullyCompensated: false, undos }];
    expect(details(claims, vendors.ledgers())).toEqual([]);
    expect(auditLedgers(vendors.ledgers(), [])).toMatchObject({ fullyCompensated: 0, orderViolations: [] });
  });
});

describe('the synthetic itineraries', () => {
  test('are the same for the same seed and others for another', () => {
    expect(createTripBatch(7, 100)).toEqual(createTripBatch(7, 100));
    expect(createTripBatch(7, 100)).not.toEqual(createTripBatch(8, 100));
  });

  test('fail at the car at the fixed rate, whatever the seed', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const { itineraries, soldOutTrips } = createTripBatch(seed, 100);
      expect(new Set(itineraries.map(({ trip }) => trip)).size).toBe(100);
      expect(new Set(soldOutTrips).size).toBe(100 * CAR_FAILURE_RATE);
    }
  });
});
