import { DONE, REFUSED, UNKNOWN } from './call-outcomes.js';
import type { OutcomeRow } from './outcome-row.js';

/**
 * Everything that can come of an undo entry. `docs/outcomes.md` is generated from this table, and an end-to-end test
 * plays each row against a vendor.
 */

const UNREPORTED = {
  found: {
    when: 'Nobody reported the effect; `lookup` finds it',
    does: 'Calls, bound to the result that was found.',
    state: 'compensated',
    proof: 'answered',
  },
  absent: {
    when: 'Nobody reported it; `lookup` finds nothing, twice, `settle_ms` apart',
    does: 'No call.',
    state: 'skipped',
    reason: 'effect_absent',
  },
  lookup_failed: {
    when: 'Nobody reported it; `lookup` gets no usable answer',
    does: 'Asks again as often as a call is retried, then halts; no call.',
    state: 'unconfirmed',
    code: 'lookup_failed',
  },
  assumed: {
    when: 'Nobody reported it, and there is no `lookup`',
    does: 'Calls: undoing is the safe default.',
    state: 'compensated',
    proof: 'answered',
  },
  missing_result: {
    when: 'An address or the arguments need a result that nobody has',
    does: 'No call; halts.',
    state: 'unconfirmed',
    code: 'missing_result',
  },
  not_applied: {
    when: 'The agent reported `not_applied`',
    does: 'No call.',
    state: 'skipped',
    reason: 'not_applied',
  },
  irreversible: {
    when: 'The effect is `irreversible`',
    does: 'No call; it is listed in `effects_standing`.',
    state: 'skipped',
    reason: 'irreversible',
  },
} as const satisfies Record<string, OutcomeRow>;

const TOO_LATE = {
  key_expired: {
    when: 'A call that may have taken is older than `key_ttl_seconds`; no `confirm`, or it can not be read',
    does: 'No further call; halts.',
    state: 'unconfirmed',
    code: 'key_expired',
  },
  key_expired_shown: {
    when: 'The key expired, and `confirm` agrees',
    does: 'No further call.',
    state: 'compensated',
    proof: 'confirmed',
  },
  key_expired_standing: {
    when: 'The key expired, and the record shows the effect standing',
    does: 'Sends the call again, under the same key.',
    state: 'compensated',
    proof: 'confirmed',
  },
  window_passed: {
    when: '`undo_deadline_seconds` are over, and no call can have taken',
    does: 'No call; `confirm` is asked once. `undo.deadline_near` is in the audit log since 80 % of the window.',
    state: 'failed',
    code: 'undo_deadline_passed',
  },
  window_passed_unknown: {
    when: '`undo_deadline_seconds` are over, and a call may have taken',
    does: 'No further call; `confirm` is asked once.',
    state: 'unconfirmed',
    code: 'undo_deadline_passed',
  },
} as const satisfies Record<string, OutcomeRow>;

/** What the vendor has no part in. */
const OURS = {
  paused: {
    when: 'A person has paused the compensation',
    does: 'Waits, with its state as it was, until it is resumed.',
    state: 'active',
    code: 'compensation_paused',
  },
  host_down: {
    when: 'The breaker of its host is open',
    does: 'Waits, its budget with it; one entry at a time is let through. After 24 h it waits no more.',
    state: 'running',
    code: 'host_unavailable',
  },
  key_missing: {
    when: 'The process has not the key that would decrypt it',
    does: 'Waits until a process has it.',
    state: 'running',
    code: 'encryption_key_missing',
  },
  damaged: {
    when: 'Its arguments, result or compensation can not be decrypted',
    does: 'No call; halts.',
    state: 'unconfirmed',
    code: 'value_damaged',
  },
  secret_gone: {
    when: 'A secret that a header names is gone',
    does: 'No call; halts.',
    state: 'unconfirmed',
    code: 'unknown_secret',
  },
} as const satisfies Record<string, OutcomeRow>;

export const OUTCOMES = {
  'The vendor says that it is done': DONE,
  'It was refused: nothing happened': REFUSED,
  'Nobody can know': UNKNOWN,
  'The effect was not reported, or need not be undone': UNREPORTED,
  'It is late': TOO_LATE,
  'Before any call': OURS,
} as const;

export type OutcomeId =
  | keyof typeof DONE
  | keyof typeof REFUSED
  | keyof typeof UNKNOWN
  | keyof typeof UNREPORTED
  | keyof typeof TOO_LATE
  | keyof typeof OURS;

/** Every row by its id. */
export const OUTCOME_ROWS: Readonly<Record<OutcomeId, OutcomeRow>> = {
  ...DONE,
  ...REFUSED,
  ...UNKNOWN,
  ...UNREPORTED,
  ...TOO_LATE,
  ...OURS,
};
