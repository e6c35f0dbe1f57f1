/**
 * SQL about a session's lease; `s` is the session's row. Time is the database's, read after the row was locked.
 *
 * A renewal is written only when a tenth of the lease has gone by, so that a busy session does not rewrite its row
 * with every call.
 */

export const LEASE_EXPIRED = `coalesce(s.lease_expires_at <= clock_timestamp(), false)`;

const AGE_LIMIT = `CASE WHEN s.max_age_seconds > 0 THEN s.created_at + s.max_age_seconds * interval '1 second' END`;

/** Null where the session has neither a lease nor an age limit. */
export const RENEWED_LEASE = `least(
  CASE WHEN s.lease_seconds > 0 THEN clock_timestamp() + s.lease_seconds * interval '1 second' END,
  ${AGE_LIMIT})`;

export const RENEWAL_DUE = `(s.lease_seconds > 0
  AND s.lease_expires_at < clock_timestamp() + s.lease_seconds * interval '0.9 second')`;

/** Which of its two clocks an expired session ran out of. */
export const EXPIRY_REASON = `CASE WHEN ${AGE_LIMIT} <= clock_timestamp() THEN 'max_age_exceeded' ELSE 'lease_expired' END`;
