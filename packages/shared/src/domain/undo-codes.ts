/**
 * Why an undo entry is not done, or waits: the `code` of an entry and of its dead letter. `docs/outcomes.md` is
 * generated from this table and from that of the outcomes.
 */
export const UNDO_CODES = {
  outcome_unknown: 'A call may have taken: no whole answer came, or a refusal followed a call of unknown outcome.',
  endpoint_unreachable: 'The last call found no connection: it did nothing.',
  url_not_allowed: 'The address is one that the egress guard refuses; nothing was sent.',
  not_confirmed: 'The vendor said "done" or "accepted", and its record does not show it; or there is none to ask.',
  undo_failed: 'The record shows that the undo was accepted and did not come about.',
  missing_result: "An address or the arguments need the call's result, which is not known; nothing was sent.",
  lookup_failed: 'Nobody could find out whether the effect exists.',
  key_expired: 'A call that may have taken is older than `key_ttl_seconds`, and no record shows that it did not take.',
  undo_deadline_passed: "The vendor's window for the undo is over; it is not called any more.",
  unknown_secret: 'A secret that a header names is gone; nothing was sent.',
  encryption_key_missing: 'What would be sent was encrypted with a key that the process does not have.',
  value_damaged: 'What would be sent can not be decrypted; nothing was sent.',
  stalled: 'Workers were lost with this entry again and again, or one handed it over.',
  child_halted: 'A child session, to be undone first, is halted.',
  compensation_paused: 'A person has paused the compensation.',
  host_unavailable: "The vendor's host is down, for other sessions too.",
} as const;

/** `http_<status>`: what the last call was answered with. */
export type UndoCode = keyof typeof UNDO_CODES | `http_${number}`;
