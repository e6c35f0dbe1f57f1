import { randomBytes } from 'node:crypto';

/** Ids of zeros alone are invalid (W3C Trace Context), and a vendor's tracer would drop them. */
const PARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;

/** A span of our own in the trace of the registration, or in a new trace where it named none (W3C Trace Context). */
export function childTraceparent(parent: string | null): string {
  const [, traceId, flags] = PARENT.exec(parent ?? '') ?? [];
  return `00-${traceId ?? randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-${flags ?? '01'}`;
}
