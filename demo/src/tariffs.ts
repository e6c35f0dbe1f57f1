import type { VendorKind } from './ledger.js';

/** What the traveller asks a vendor for; each vendor reads its own members. */
export interface BookingDetails {
  readonly distance_km?: number;
  readonly nights?: number;
  readonly stars?: number;
  readonly days?: number;
  readonly seats?: number;
}

export interface CancellationRules {
  /** The part of the price that is paid back, from 0 to 1. */
  readonly refundableShare: number;
  /** Kept by the vendor on top; with 0 everywhere, orphaned cost is exactly what nobody cancelled. */
  readonly feeCents: number;
  /** The answer to a second cancellation of a booking, under another key. */
  readonly statusWhenAlreadyCancelled: number;
}

export interface Tariff {
  readonly cancellation: CancellationRules;
  /** The price in cents, or undefined when the request lacks what this vendor needs to know. */
  priceCents(details: BookingDetails): number | undefined;
}

const FLIGHT_BASE_CENTS = 4_500;
const FLIGHT_CENTS_PER_KM = 12;
const HOTEL_BASE_CENTS_PER_NIGHT = 3_500;
const HOTEL_CENTS_PER_STAR_AND_NIGHT = 2_200;
const CAR_BASE_CENTS_PER_DAY = 1_900;
const CAR_CENTS_PER_SEAT_AND_DAY = 450;

export const TARIFFS: Readonly<Record<VendorKind, Tariff>> = {
  flight: {
    cancellation: { refundableShare: 1, feeCents: 0, statusWhenAlreadyCancelled: 410 },
    priceCents({ distance_km: km }) {
      return km === undefined ? undefined : FLIGHT_BASE_CENTS + FLIGHT_CENTS_PER_KM * km;
    },
  },
  hotel: {
    cancellation: { refundableShare: 1, feeCents: 0, statusWhenAlreadyCancelled: 410 },
    priceCents({ nights, stars }) {
      if (nights === undefined || stars === undefined) return undefined;
      return nights * (HOTEL_BASE_CENTS_PER_NIGHT + HOTEL_CENTS_PER_STAR_AND_NIGHT * stars);
    },
  },
  car: {
    cancellation: { refundableShare: 1, feeCents: 0, statusWhenAlreadyCancelled: 404 },
    priceCents({ days, seats }) {
      if (days === undefined || seats === undefined) return undefined;
      return days * (CAR_BASE_CENTS_PER_DAY + CAR_CENTS_PER_SEAT_AND_DAY * seats);
    },
  },
};

/** What a vendor pays back for a cancelled booking, in cents; never more than was paid, never below 0. */
export function refundCents(paidCents: number, rules: CancellationRules): number {
  return Math.max(0, Math.round(paidCents * rules.refundableShare) - rules.feeCents);
}
