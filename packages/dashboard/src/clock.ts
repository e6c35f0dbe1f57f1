import { useSyncExternalStore } from 'react';

const TICK_MS = 1000;
const listeners = new Set<() => void>();
let nowMs = Date.now();

// One timer for every time that is shown as an age, and none while nobody looks.
setInterval(() => {
  if (document.hidden) return;
  nowMs = Date.now();
  for (const tell of listeners) tell();
}, TICK_MS);

function listen(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** The reader's clock, to the second. What time decides, the server decides; this is for ages only. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => nowMs);
}

export function momentOf(timestamp: string): Date {
  return new Date(timestamp);
}

const MINUTE_MS = 60_000;

/** Years have four digits, as in RFC 3339. */
export const LAST_FIELD_TIME = '9999-12-31T23:59';

/** A time as a field of type `datetime-local` has it, which knows no zone: `2026-12-01T03:00`. Empty for what is no time. */
export function writeFieldTime(timestamp: string, utc: boolean): string {
  const moment = momentOf(timestamp);
  if (Number.isNaN(moment.getTime())) return '';
  const shift = utc ? 0 : moment.getTimezoneOffset() * MINUTE_MS;
  return new Date(moment.getTime() - shift).toISOString().slice(0, 16);
}

export function readFieldTime(text: string, utc: boolean): string {
  return new Date(utc ? `${text}Z` : text).toISOString();
}
