import type { HttpDriver } from './http-driver.js';
import type { Product } from './processes.js';
import { cancelName, COMPENSATION_VERSION, type Tenant } from './tenant.js';
import { REFUSED_KIND } from './vendor-record.js';
import type { Vendor } from './vendor.js';

/** What a trip of the peers' job books before its car is refused. */
const TRIP_LEGS = ['flight', 'hotel'];

/** The legs of a trip that ends with `depth` bookings to undo, in booking order; the last one is refused. */
export function legsOf(depth: number): string[] {
  const standing = Array.from({ length: depth }, (_, index) => TRIP_LEGS[index] ?? `leg${index + 1}`);
  return [...standing, REFUSED_KIND];
}

interface Registration {
  readonly effect_id: string;
  readonly decision: string;
  readonly idempotency_key: string;
}

/** What a trip needs: the product, the vendor, and what is booked there. */
export interface TripScene {
  readonly driver: HttpDriver;
  readonly product: Product;
  readonly vendor: Vendor;
  readonly tenant: Tenant;
  readonly legs: readonly string[];
}

export interface Booked {
  readonly status: number;
  readonly body: unknown;
}

/** The body that registers a leg. */
export function effectOf(trip: string, leg: string): object {
  const compensation = { fn_name: cancelName(leg), version: COMPENSATION_VERSION, args: { trip } };
  return { tool_name: `book_${leg}`, args: { trip }, effect_class: 'compensable', compensation };
}

/** @throws unless the answer lets the agent make the call. */
export function mustExecute(answer: unknown): Registration {
  const registration = answer as Registration;
  if (registration.decision !== 'execute') throw new Error(`a registration was answered ${JSON.stringify(answer)}`);
  return registration;
}

/** The body that reports a refused leg. */
export function failureOf({ status }: Booked): object {
  return { error: { status }, outcome: status < 500 ? 'not_applied' : 'unknown' };
}

export function book({ driver, vendor }: TripScene, trip: string, leg: string, key: string): Promise<Booked> {
  return driver.send('POST', vendor.url, `/book/${leg}`, { trip }, ['idempotency-key', key]);
}

/** Books trips through UndoLog's HTTP interface, as an agent would: each step waits for the answer to the one before. */
export class TripAgent {
  readonly #scene: TripScene;
  #trips = 0;

  constructor(scene: TripScene) {
    this.#scene = scene;
  }

  /** One session: registers, books and commits leg by leg until the vendor refuses, then fails the session. */
  async bookTrip(trip: string): Promise<void> {
    const { legs, product } = this.#scene;
    const api = product.apiUrls[this.#trips++ % product.apiUrls.length]!;
    await this.#post(api, '/v1/sessions', { session_id: trip });
    for (const leg of legs) {
      const registered = await this.#post(api, `/v1/sessions/${trip}/effects`, effectOf(trip, leg));
      const { effect_id: effectId, idempotency_key: key } = mustExecute(registered);
      const booked = await book(this.#scene, trip, leg, key);
      if (booked.status < 300) {
        await this.#post(api, `/v1/effects/${effectId}/commit`, { result: booked.body });
        continue;
      }
      await this.#post(api, `/v1/effects/${effectId}/fail`, failureOf(booked));
      await this.#post(api, `/v1/sessions/${trip}/fail`, { reason: `no ${leg} available`, effect_id: effectId });
      return;
    }
    throw new Error(`the vendor refused nothing of ${trip}`);
  }

  #post(api: string, path: string, body: unknown): Promise<unknown> {
    const { driver, tenant } = this.#scene;
    return driver.mustSend('POST', api, path, body, tenant.authorization);
  }
}
