import { randomBytes } from 'node:crypto';
import { TRACEPARENT } from '../domain/traceparent.js';

/** A span of our own in the trace of the registration, or in a new trace where it named none (W3C Trace Context). */
export function childTraceparent(parent: string | null): string {
  const [, traceId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
  return `00-${traceId ?? randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-${flags ?? '01'}`;
}
