import { v7 } from 'uuid';

/**
 * The only source of time, ids and chance. Time from here is for measuring and for logs; what the product decides by
 * time (leases, schedules, expiry) is decided by the database's clock.
 */

/** Milliseconds since 1970 by this machine's clock. */
export function nowMs(): number {
  return Date.now();
}

/** The same as a `Date`, for libraries that want one. */
export function nowDate(): Date {
  return new Date();
}

/** Milliseconds from an unknown start; never goes back, so differences of it measure durations. */
export function monotonicMs(): number {
  return performance.now();
}

// Asking the system for randomness costs more than all the rest of an id, so it is asked for many at a time.
const ID_BYTES = 16;
const pool = new Uint8Array(ID_BYTES * 512);
let used = pool.length;

/** A fresh id. Ids sort by the millisecond in which they were made. */
export function uuidv7(): string {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  used += ID_BYTES;
  return v7({ random: pool.subarray(used - ID_BYTES, used) });
}

/** A number from 0 up to but not including 1; for jitter, not for secrets. */
export function random(): number {
  return Math.random();
}

/** Whether a time in RFC 3339 (UTC) names a day and an hour that exist. */
export function isRealTime(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19);
}

/** A timestamp as Postgres gives them, so much later. */
export function addMilliseconds(timestamp: string, ms: number): string {
  return new Date(Date.parse(timestamp) + ms).toISOString().replace('Z', '000Z');
}
