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

/** Books trips through UndoLog's HTTP interface, as an agent would: each step waits for the answer to the one before. */
export class TripAgent {
  readonly #driver: HttpDriver;
  readonly #product: Product;
  readonly #vendor: Vendor;
  readonly #tenant: Tenant;
  readonly #legs: readonly string[];
  #trips = 0;

  constructor(o: { driver: HttpDriver; product: Product; vendor: Vendor; tenant: Tenant; legs: readonly string[] }) {
    this.#driver = o.driver;
    this.#product = o.product;
    this.#vendor = o.vendor;
    this.#tenant = o.tenant;
    this.#legs = o.legs;
  }

  /** One session: registers, books and commits leg by leg until the vendor refuses, then fails the session. */
  async bookTrip(trip: string): Promise<void> {
    const { apiUrls } = this.#product;
    const api = apiUrls[this.#trips++ % apiUrls.length]!;
    await this.#post(api, '/v1/sessions', { session_id: trip });
    for (const leg of this.#legs) {
      const { effect_id: effectId, idempotency_key: key } = await this.#register(api, trip, leg);
      const booked = await this.#driver.send('POST', this.#vendor.url, `/book/${leg}`, { trip }, [
        'idempotency-key',
        key,
      ]);
      if (booked.status < 300) {
        await this.#post(api, `/v1/effects/${effectId}/commit`, { result: booked.body });
        continue;
      }
      const outcome = booked.status < 500 ? 'not_applied' : 'unknown';
      await this.#post(api, `/v1/effects/${effectId}/fail`, { error: { status: booked.status }, outcome });
      await this.#post(api, `/v1/sessions/${trip}/fail`, { reason: `no ${leg} available`, effect_id: effectId });
      return;
    }
    throw new Error(`the vendor refused nothing of ${trip}`);
  }

  async #register(api: string, trip: string, leg: string): Promise<Registration> {
    const compensation = { fn_name: cancelName(leg), version: COMPENSATION_VERSION, args: { trip } };
    const effect = { tool_name: `book_${leg}`, args: { trip }, effect_class: 'compensable', compensation };
    const registration = (await this.#post(api, `/v1/sessions/${trip}/effects`, effect)) as Registration;
    if (registration.decision !== 'execute') throw new Error(`${leg} of ${trip}: ${registration.decision}`);
    return registration;
  }

  #post(api: string, path: string, body: unknown): Promise<unknown> {
    return this.#driver.mustSend('POST', api, path, body, this.#tenant.authorization);
  }
}
