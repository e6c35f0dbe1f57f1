import type { VendorKind } from './ledger.js';
import { createSeededRandom } from './seeded-random.js';
import type { BookingDetails } from './tariffs.js';

export interface Itinerary {
  /** Also the id of the trip's UndoLog session. */
  readonly trip: string;
  readonly destination: string;
  readonly legs: Readonly<Record<VendorKind, BookingDetails>>;
}

export interface TripBatch {
  readonly itineraries: readonly Itinerary[];
  /** Trips for which the car vendor has nothing left; it finds out after flight and hotel are charged. */
  readonly soldOutTrips: readonly string[];
}

/** The share of trips that fail at the car. It is fixed: every seed fails equally many, only different ones. */
export const CAR_FAILURE_RATE = 0.16;

const DESTINATIONS: readonly [string, ...string[]] = [
  'Lisbon',
  'Porto',
  'Vienna',
  'Oslo',
  'Kraków',
  'Athens',
  'Dublin',
  'Palermo',
  'Tallinn',
  'Valencia',
];

/** The same seed and count give the same trips, prices and failures, on every machine. */
export function createTripBatch(seed: number, trips: number): TripBatch {
  const random = createSeededRandom(seed);
  const digits = String(trips).length;
  const itineraries = Array.from({ length: trips }, (_, index): Itinerary => {
    const nights = random.between(1, 4);
    return {
      trip: `trip-${String(index + 1).padStart(digits, '0')}`,
      destination: random.pick(DESTINATIONS),
      legs: {
        flight: { distance_km: random.between(400, 2_800) },
        hotel: { nights, stars: random.between(2, 5) },
        car: { days: nights, seats: random.between(2, 7) },
      },
    };
  });
  const failing = random.sample(trips, Math.round(trips * CAR_FAILURE_RATE));
  const soldOutTrips = itineraries.filter((_, index) => failing.has(index)).map(({ trip }) => trip);
  return { itineraries, soldOutTrips };
}
