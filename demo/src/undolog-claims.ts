import type { SessionState, UndoState } from '@undolog/shared/domain/states';
import { kindOfCancel } from './compensations.js';
import type { VendorKind } from './ledger.js';
import { mapConcurrently } from './map-concurrently.js';
import type { StackEntry, UndoLogClient } from './undolog-client.js';

/** What UndoLog says about one booking and its undo. */
export interface UndoClaim {
  readonly undoId: string;
  readonly kind: VendorKind;
  readonly state: UndoState;
  /** From the result that the agent committed; null when it committed none. */
  readonly bookingId: string | null;
  /** The key that UndoLog gave the agent for the booking. */
  readonly bookingKey: string;
}

/** What UndoLog says about one trip. */
export interface TripClaim {
  readonly trip: string;
  readonly state: SessionState;
  readonly fullyCompensated: boolean;
  readonly undos: readonly UndoClaim[];
}

const READS_AT_ONCE = 16;

/** Reads, through the API, everything that UndoLog says about every trip of the org. */
export async function readClaims(client: UndoLogClient): Promise<TripClaim[]> {
  const sessions = await client.sessions();
  return mapConcurrently(sessions, READS_AT_ONCE, async (session) => ({
    trip: session.session_id,
    state: session.state,
    fullyCompensated: session.fully_compensated,
    undos: (await client.stack(session.session_id)).map(undoClaim),
  }));
}

function undoClaim(entry: StackEntry): UndoClaim {
  const kind = kindOfCancel(entry.fn_name);
  if (kind === undefined)
    throw new Error(`UndoLog lists ${entry.fn_name ?? 'an entry without compensation'}, which no agent registered`);
  return {
    undoId: entry.undo_id,
    kind,
    state: entry.state,
    bookingId: entry.effect.result?.booking_id ?? null,
    bookingKey: entry.effect.idempotency_key,
  };
}
