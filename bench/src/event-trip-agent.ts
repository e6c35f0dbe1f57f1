import { book, effectOf, failureOf, mustExecute, type TripScene } from './trip-agent.js';

interface Event {
  readonly type: string;
  readonly data: object;
}

const BATCH_TYPE = ['content-type', 'application/cloudevents-batch+json'];

/** Books the same trips by events: what settles one leg and what registers the next go in one request. */
export class EventTripAgent {
  readonly #scene: TripScene;
  #trips = 0;

  constructor(scene: TripScene) {
    this.#scene = scene;
  }

  async bookTrip(trip: string): Promise<void> {
    const { legs, product } = this.#scene;
    const api = product.apiUrls[this.#trips++ % product.apiUrls.length]!;
    let sent = 0;
    const report = async (...events: Event[]): Promise<unknown> => {
      const batch = events.map(({ type, data }) => ({
        specversion: '1.0',
        id: `${sent++}`,
        source: trip,
        type: `undolog.${type}`,
        data: { session_id: trip, ...data },
      }));
      return this.#send(api, batch);
    };

    let before: Event = { type: 'session.started', data: {} };
    for (const leg of legs) {
      const registered = await report(before, { type: 'effect.registered', data: effectOf(trip, leg) });
      const { effect_id, idempotency_key: key } = mustExecute(registered);
      const booked = await book(this.#scene, trip, leg, key);
      if (booked.status < 300) {
        before = { type: 'effect.committed', data: { effect_id, result: booked.body } };
        continue;
      }
      await report(
        { type: 'effect.failed', data: { effect_id, ...failureOf(booked) } },
        { type: 'session.failed', data: { reason: `no ${leg} available`, effect_id } },
      );
      return;
    }
    throw new Error(`the vendor refused nothing of ${trip}`);
  }

  /** @returns what the last event was answered. @throws if any of them was refused. */
  async #send(api: string, batch: readonly object[]): Promise<unknown> {
    const { driver, tenant } = this.#scene;
    const answer = await driver.mustSend('POST', api, '/v1/events', batch, [...BATCH_TYPE, ...tenant.authorization]);
    const { results } = answer as { results: { status: number; body: unknown }[] };
    const refused = results.find(({ status }) => status >= 300);
    if (refused) throw new Error(`an event was answered ${refused.status}: ${JSON.stringify(refused.body)}`);
    return results.at(-1)!.body;
  }
}
