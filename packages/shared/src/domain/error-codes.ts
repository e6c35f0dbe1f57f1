/**
 * Every error that the API can answer with: its HTTP status, the problem's title, and one line of meaning.
 * `docs/errors.md` is generated from this table.
 */

interface ErrorCode {
  readonly status: number;
  readonly title: string;
  readonly meaning: string;
}

export const ERROR_CODES = {
  invalid_json: { status: 400, title: 'Invalid JSON', meaning: 'The body is not JSON, or not UTF-8.' },
  duplicate_key: { status: 400, title: 'Duplicate key', meaning: 'An object of the body names a member twice.' },
  too_deep: { status: 400, title: 'Too deep', meaning: 'The body nests deeper than 100 levels.' },
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    meaning: 'A field is missing, unknown, of the wrong type or out of range; `errors` lists each with its path.',
  },
  invalid_cursor: { status: 400, title: 'Invalid cursor', meaning: 'The cursor was not made by this API.' },
  invalid_idempotency_key: {
    status: 400,
    title: 'Invalid Idempotency-Key',
    meaning: 'The header must be 1–255 visible ASCII characters.',
  },
  unauthorized: { status: 401, title: 'Unauthorized', meaning: 'The API key is missing, unknown or revoked.' },
  forbidden: { status: 403, title: 'Forbidden', meaning: 'The role of this API key does not allow the route.' },
  csrf_refused: {
    status: 403,
    title: 'Not from the page',
    meaning:
      'A request with the cookie of the web page must prove that the page sent it: `X-Undolog-CSRF`, own origin.',
  },
  not_found: { status: 404, title: 'Not found', meaning: 'There is no such route, or no such thing in this org.' },
  method_not_allowed: { status: 405, title: 'Method not allowed', meaning: 'The route exists, with another method.' },
  session_exists: {
    status: 409,
    title: 'Session exists',
    meaning: 'A session with this id was opened with another body.',
  },
  session_not_active: {
    status: 409,
    title: 'Session not active',
    meaning: 'The session has ended, failed or expired; do not run the tool. `decision` tells what to do.',
  },
  session_not_ended: {
    status: 409,
    title: 'Session not ended',
    meaning: 'The session, or one that it belongs to, has not ended; its data may still be needed to undo it.',
  },
  session_completed: {
    status: 409,
    title: 'Session completed',
    meaning: 'The session has already succeeded and can no longer be failed or cancelled.',
  },
  plan_changed: {
    status: 409,
    title: 'Plan changed',
    meaning: 'What would be undone now is not what was planned; nothing was changed. Plan again.',
  },
  effects_in_flight: {
    status: 409,
    title: 'Effects in flight',
    meaning: 'An effect of the session has not been reported yet.',
  },
  effect_committed: {
    status: 409,
    title: 'Effect committed',
    meaning: 'The effect was already reported as done; it can no longer be reported as failed.',
  },
  result_conflict: {
    status: 409,
    title: 'Result conflict',
    meaning: 'The effect was already committed with another result.',
  },
  step_index_taken: {
    status: 409,
    title: 'Step index taken',
    meaning: 'Another effect of the session holds this stack position.',
  },
  stack_full: { status: 409, title: 'Stack full', meaning: 'No stack position above the highest one is left.' },
  dead_letter_closed: {
    status: 409,
    title: 'Dead letter closed',
    meaning: 'Somebody has acted on this dead letter already; its session goes on, or has ended.',
  },
  outcome_unknown: {
    status: 409,
    title: 'Outcome unknown',
    meaning: 'A call of this undo may have taken effect: it can be retried as it is, but not with other arguments.',
  },
  compensation_immutable: {
    status: 409,
    title: 'Compensation immutable',
    meaning: 'This version exists with another body; register a new version.',
  },
  idempotency_key_in_progress: {
    status: 409,
    title: 'Idempotency-Key in progress',
    meaning: 'A request with this key is still running; repeat it later.',
  },
  secret_already_shown: {
    status: 409,
    title: 'Secret already shown',
    meaning: 'The answer to this Idempotency-Key held a secret, which is shown only once.',
  },
  dead_letter_changed: {
    status: 412,
    title: 'Dead letter changed',
    meaning: 'The dead letter is no longer the version that `If-Match` names; nothing was changed. Read it again.',
  },
  body_too_large: { status: 413, title: 'Body too large', meaning: 'The body is larger than 8 MiB.' },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body must be application/json in UTF-8.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key reused',
    meaning: 'This key was used with another body.',
  },
  event_reused: {
    status: 422,
    title: 'Event reused',
    meaning: 'An event of this source and id was sent with another type or data.',
  },
  call_id_reused: {
    status: 422,
    title: 'call_id reused',
    meaning: 'The session has an effect with this call_id and another body.',
  },
  unknown_parent: {
    status: 422,
    title: 'Unknown parent',
    meaning: 'There is no session with the id of `parent` in this org.',
  },
  unknown_compensation: {
    status: 422,
    title: 'Unknown compensation',
    meaning: 'No compensation with this fn_name and version is registered.',
  },
  compensation_required: {
    status: 422,
    title: 'Compensation required',
    meaning: 'A compensable effect must name its compensation.',
  },
  unresolved_reference: {
    status: 422,
    title: 'Unresolved reference',
    meaning: 'An `$args` pointer of the compensation finds nothing in the arguments.',
  },
  no_confirm: {
    status: 422,
    title: 'No confirm',
    meaning: 'The compensation of this entry does not say how its vendor can be asked.',
  },
  unknown_undo: {
    status: 422,
    title: 'Unknown undo',
    meaning: 'There is no entry of this session that this can be done to, or `undo_id` names none.',
  },
  unknown_effect: {
    status: 422,
    title: 'Unknown effect',
    meaning: 'The effect_id belongs to no effect of this session.',
  },
  unknown_secret: { status: 422, title: 'Unknown secret', meaning: 'A header names a secret that does not exist.' },
  encryption_key_required: {
    status: 422,
    title: 'Encryption key required',
    meaning: 'Secrets are never kept in the clear, and `UNDOLOG_ENCRYPTION_KEY` is unset.',
  },
  url_not_allowed: {
    status: 422,
    title: 'URL not allowed',
    meaning: 'The address is private, loopback, link-local or otherwise refused by the egress guard.',
  },
  header_not_allowed: {
    status: 422,
    title: 'Header not allowed',
    meaning: 'The header belongs to UndoLog or to the transport, or its value holds a line break.',
  },
  ambiguous_outcome: {
    status: 422,
    title: 'Ambiguous outcome',
    meaning: 'A status stands in two lists of `outcomes`.',
  },
  confirm_required: {
    status: 422,
    title: 'Confirm required',
    meaning: 'An asynchronous compensation must declare `confirm`.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    meaning: 'This API key sends too many requests, or this address has tried too many wrong keys.',
  },
  internal: { status: 500, title: 'Internal error', meaning: 'A fault of UndoLog; nothing was committed.' },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    meaning: 'Postgres did not answer; the outcome is unknown. Repeat the same request.',
  },
  encryption_key_missing: {
    status: 503,
    title: 'Encryption key missing',
    meaning: 'What this answer needs was encrypted with a key that the process does not have. Nothing was changed.',
  },
} as const satisfies Record<string, ErrorCode>;

export type ErrorCodeName = keyof typeof ERROR_CODES;
