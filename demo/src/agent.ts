import { cancelName, COMPENSATION_VERSION } from './compensations.js';
import type { Itinerary } from './itineraries.js';
import { VENDOR_KINDS, type VendorKind } from './ledger.js';
import { requestJson } from './request-json.js';
import type { Registration, UndoLogClient } from './undolog-client.js';
import type { VendorUrls } from './vendors.js';

export type TripOutcome = 'completed' | 'failed';

type BookingOutcome =
  { readonly kind: 'booked'; readonly booking: unknown } | { readonly kind: 'inventory_unavailable' };

/** The agent as it is without UndoLog: when the car fails it stops, and nobody goes back. */
export async function bookTrip(vendors: VendorUrls, itinerary: Itinerary): Promise<TripOutcome> {
  for (const kind of VENDOR_KINDS) {
    const outcome = await book(vendors, kind, itinerary, `${itinerary.trip}-${kind}`);
    if (outcome.kind === 'inventory_unavailable') return 'failed';
  }
  return 'completed';
}

/** The same agent, one UndoLog session per trip: each booking is registered with its inverse before it is made. */
export async function bookTripWithUndo(
  client: UndoLogClient,
  vendors: VendorUrls,
  itinerary: Itinerary,
): Promise<TripOutcome> {
  const session = `/v1/sessions/${encodeURIComponent(itinerary.trip)}`;
  await client.post('/v1/sessions', {
    session_id: itinerary.trip,
    agent_name: 'trip-booking-agent',
    metadata: { destination: itinerary.destination },
  });

  for (const kind of VENDOR_KINDS) {
    const registration = await client.post<Registration>(`${session}/effects`, effectBody(kind, itinerary));
    // Anything but `execute` means that this call isn't ours to make, or was made before.
    if (registration.decision !== 'execute') throw new Error(`${kind} of ${itinerary.trip}: ${registration.decision}`);

    const effect = `/v1/effects/${registration.effect_id}`;
    const outcome = await book(vendors, kind, itinerary, registration.idempotency_key);
    if (outcome.kind === 'inventory_unavailable') {
      // The vendor refused, so there is nothing to undo for this one; the earlier bookings are another matter.
      await client.post(`${effect}/fail`, { error: { code: 'inventory_unavailable' }, outcome: 'not_applied' });
      await client.post(`${session}/fail`, { reason: `no ${kind} available`, effect_id: registration.effect_id });
      return 'failed';
    }
    await client.post(`${effect}/commit`, { result: outcome.booking });
  }

  await client.post(`${session}/complete`, {});
  return 'completed';
}

function effectBody(kind: VendorKind, itinerary: Itinerary): Record<string, unknown> {
  return {
    tool_name: `book_${kind}`,
    args: { trip: itinerary.trip, ...itinerary.legs[kind] },
    call_id: `${itinerary.trip}-${kind}`,
    effect_class: 'compensable',
    compensation: {
      fn_name: cancelName(kind),
      version: COMPENSATION_VERSION,
      args: { trip: itinerary.trip, booking_id: { $result: '/booking_id' } },
    },
  };
}

/** Throws on every answer but a booking or a sold-out one: what happened is then not known, and not ours to guess. */
async function book(
  vendors: VendorUrls,
  kind: VendorKind,
  itinerary: Itinerary,
  idempotencyKey: string,
): Promise<BookingOutcome> {
  const answer = await requestJson('POST', `${vendors[kind]}/book`, {
    body: { trip: itinerary.trip, ...itinerary.legs[kind] },
    headers: { 'idempotency-key': idempotencyKey },
  });
  if (answer.status === 201) return { kind: 'booked', booking: answer.body };
  const code = (answer.body as { code?: unknown } | undefined)?.code;
  if (answer.status === 409 && code === 'inventory_unavailable') return { kind: 'inventory_unavailable' };
  throw new Error(`the ${kind} vendor answered ${answer.status} ${String(code)} for ${itinerary.trip}`);
}
