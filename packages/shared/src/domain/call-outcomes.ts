import type { OutcomeRow } from './outcome-row.js';

/** What can come of a call: the vendor says that it is done, that it is not, or nobody can know. */

export const DONE = {
  done: {
    when: '2xx',
    does: 'Nothing more: the answer counts as it is.',
    state: 'compensated',
    proof: 'answered',
  },
  done_late: {
    when: 'A 2xx that is slow, yet whole before `timeout_ms`',
    does: 'As any 2xx.',
    state: 'compensated',
    proof: 'answered',
  },
  done_garbled: {
    when: '2xx with a body that is no JSON, or longer than 64 KiB',
    does: 'No body rule matches; the status decides.',
    state: 'compensated',
    proof: 'answered',
  },
  done_listed: {
    when: 'A status in `outcomes.done`, such as 404 or 410',
    does: 'As a 2xx: it was undone before.',
    state: 'compensated',
    proof: 'answered',
  },
  done_by_code: {
    when: 'Any status, and a body rule says `done`: 400 with `already_refunded`',
    does: 'As a 2xx; body rules go before the lists and the status.',
    state: 'compensated',
    proof: 'answered',
  },
  done_confirmed: {
    when: 'Done, and `confirm` agrees',
    does: 'Asks the record each `interval_ms`; never sends the call again.',
    state: 'compensated',
    proof: 'confirmed',
  },
  done_not_confirmed: {
    when: 'Done, and `confirm` does not agree within `budget_ms`',
    does: 'Halts; no second call.',
    state: 'unconfirmed',
    code: 'not_confirmed',
  },
  done_undone: {
    when: 'Done, and the record shows `confirm.failed_when`',
    does: 'Halts at once; after a call of unknown outcome as `unconfirmed`, `outcome_unknown`.',
    state: 'failed',
    code: 'undo_failed',
  },
  accepted: {
    when: '202 without `confirm`',
    does: 'Halts: a promise is not a proof.',
    state: 'unconfirmed',
    code: 'not_confirmed',
  },
  accepted_confirmed: {
    when: '202, and later `confirm` agrees',
    does: 'Follows `Location` on the same host, and the record; holds no worker meanwhile.',
    state: 'compensated',
    proof: 'confirmed',
  },
} as const satisfies Record<string, OutcomeRow>;

export const REFUSED = {
  refused: {
    when: '4xx but for 429: 400, 404, 408, 409, 410, 422 …',
    does: 'One call; halts.',
    state: 'failed',
    code: 'http_422',
  },
  refused_but_shown: {
    when: '4xx, and `confirm` shows it undone: "already refunded" as 400, 404, 409, 410',
    does: 'Asks the record before it gives up.',
    state: 'compensated',
    proof: 'confirmed',
  },
  redirected: {
    when: '3xx',
    does: 'One call; the redirect is not followed, wherever it points.',
    state: 'failed',
    code: 'http_302',
  },
  refused_by_code: {
    when: 'Any status, and a body rule says `permanent`: 200 with `{"status": "error"}`',
    does: 'One call; halts.',
    state: 'failed',
    code: 'http_200',
  },
  too_many: {
    when: '429 until the retries are used up',
    does: 'Waits the longer of backoff and `Retry-After`, each time.',
    state: 'failed',
    code: 'http_429',
  },
  too_many_then_done: {
    when: '429 with `Retry-After`, then 2xx',
    does: 'As above.',
    state: 'compensated',
    proof: 'answered',
  },
  in_progress: {
    when: '409 "in progress", in `outcomes.retry`, then 2xx',
    does: 'Sends the call again under the same key, within the retries.',
    state: 'compensated',
    proof: 'answered',
  },
  url_not_allowed: {
    when: 'The address leads to a network that the egress guard refuses',
    does: 'Nothing is sent; no retries.',
    state: 'failed',
    code: 'url_not_allowed',
  },
  error_permanent: {
    when: '5xx in `outcomes.permanent`, or a body rule says so',
    does: 'One call. Whoever wrote the compensation says that this means "not done".',
    state: 'failed',
    code: 'http_501',
  },
} as const satisfies Record<string, OutcomeRow>;

export const UNKNOWN = {
  error: {
    when: '5xx until the retries are used up',
    does: 'Sends the call again under the same key; `confirm` is asked before each.',
    state: 'unconfirmed',
    code: 'http_503',
  },
  error_but_shown: {
    when: '5xx, and `confirm` shows it undone',
    does: 'No second call.',
    state: 'compensated',
    proof: 'confirmed',
  },
  error_then_refused: {
    when: '5xx, then 4xx',
    does: 'Halts: the first call may have taken.',
    state: 'unconfirmed',
    code: 'outcome_unknown',
  },
  unknown_by_code: {
    when: 'Any status, and a body rule says `unknown`',
    does: 'As a 5xx.',
    state: 'unconfirmed',
    code: 'http_200',
  },
  replayed: {
    when: '5xx marked `Idempotent-Replayed: true`',
    does: 'No further call: the vendor repeats what it has stored. `confirm` is asked.',
    state: 'unconfirmed',
    code: 'http_503',
  },
  replayed_unmarked: {
    when: '500 with the same body twice in a row, which says something and is not in `outcomes.retry`',
    does: 'As above, after the second.',
    state: 'unconfirmed',
    code: 'http_500',
  },
  replayed_but_shown: {
    when: 'A replayed 5xx, and `confirm` agrees',
    does: 'No further call.',
    state: 'compensated',
    proof: 'confirmed',
  },
  silent: {
    when: 'No answer before `timeout_ms`: half-open',
    does: 'As a 5xx.',
    state: 'unconfirmed',
    code: 'outcome_unknown',
  },
  trickling: {
    when: 'An answer that is not whole before `timeout_ms`: one byte a second',
    does: 'As a 5xx; one time limit covers connect, headers and body.',
    state: 'unconfirmed',
    code: 'outcome_unknown',
  },
  garbage: {
    when: 'An answer that is no HTTP',
    does: 'As a 5xx.',
    state: 'unconfirmed',
    code: 'outcome_unknown',
  },
  dropped: {
    when: 'It took, and the connection was reset',
    does: 'Sends the call again under the same key: the vendor answers and does nothing twice.',
    state: 'compensated',
    proof: 'answered',
  },
  outlasted: {
    when: 'It took, and the answer came after `timeout_ms`',
    does: 'As above; nothing is read from the late answer.',
    state: 'compensated',
    proof: 'answered',
  },
  dropped_delete: {
    when: 'It took, the answer was lost, and the next call meets 404, with a `confirm`',
    does: 'Asks the record before the next call: none is sent.',
    state: 'compensated',
    proof: 'confirmed',
  },
  unreachable: {
    when: 'No connection: refused, name not found, TLS',
    does: 'That call did nothing; within the retries it is repeated.',
    state: 'unconfirmed',
    code: 'endpoint_unreachable',
  },
  worker_lost: {
    when: 'A worker is lost with its call',
    does: 'Another one goes on within 15 s: same key, the lost call counts.',
    state: 'compensated',
    proof: 'answered',
  },
  stalled: {
    when: 'Workers are lost until the retries are used up',
    does: 'Halts.',
    state: 'unconfirmed',
    code: 'stalled',
  },
} as const satisfies Record<string, OutcomeRow>;
