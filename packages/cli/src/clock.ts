import { randomUUID } from 'node:crypto';

/** The only source of time and chance. */

export function nowMs(): number {
  return Date.now();
}

/** A name that nothing else has. */
export function freshName(): string {
  return randomUUID();
}
