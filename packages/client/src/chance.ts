/** The only source of chance, for ids and for waits that don't meet. */

/** A name that no other request has. */
export function requestKey(): string {
  return crypto.randomUUID();
}

/** From half of a wait to all of it. */
export function jittered(ms: number): number {
  return ms / 2 + (Math.random() * ms) / 2;
}
