import { rowsOf, type Queryable } from './postgres.js';

/** `first`: carry it out. `repeat`: it was recorded before. `cancelled`: its undo came first; it must not happen now. */
export type ForwardRecord = 'first' | 'repeat' | 'cancelled';

// A second transaction over the same key waits here until the first has ended; then it sees what that one decided.
const RECORD = `
INSERT INTO undolog_receiver_forwards (scope, effect_key, recorded_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (scope, effect_key) DO NOTHING RETURNING 1`;

const LOOK = `
SELECT cancelled_at IS NOT NULL AS cancelled FROM undolog_receiver_forwards WHERE scope = $1 AND effect_key = $2`;

export async function recordForward(db: Queryable, scope: string, effectKey: string): Promise<ForwardRecord> {
  if ((await rowsOf(db, RECORD, scope, effectKey)).length > 0) return 'first';
  const [known] = await rowsOf<{ cancelled: boolean }>(db, LOOK, scope, effectKey);
  return known!.cancelled ? 'cancelled' : 'repeat';
}

const CANCEL = `
INSERT INTO undolog_receiver_forwards AS f (scope, effect_key, cancelled_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (scope, effect_key) DO UPDATE SET cancelled_at = coalesce(f.cancelled_at, excluded.cancelled_at)
RETURNING recorded_at IS NOT NULL AS recorded`;

export async function cancelForward(db: Queryable, scope: string, effectKey: string): Promise<'recorded' | 'absent'> {
  const [row] = await rowsOf<{ recorded: boolean }>(db, CANCEL, scope, effectKey);
  return row!.recorded ? 'recorded' : 'absent';
}
