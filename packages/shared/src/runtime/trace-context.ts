import { hash, randomBytes } from 'node:crypto';
import { TRACEPARENT } from '../domain/traceparent.js';

/** A span of our own in the trace of its parent, or in a new trace where there is none (W3C Trace Context). */
export function childTraceparent(parent: string | null, spanId = randomBytes(8).toString('hex')): string {
  const [, traceId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
  return `00-${traceId ?? randomBytes(16).toString('hex')}-${spanId}-${flags ?? '01'}`;
}

/** The same span id in every process that knows the name. */
export function spanIdOf(name: string): string {
  return hash('sha256', name, 'hex').slice(0, 16);
}
