/** Every bound that the outside can run into, with its unit in the name. */

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
export const MAX_JSON_DEPTH = 100;

export const MAX_SESSION_ID_CHARS = 200;
export const MAX_NAME_CHARS = 200;
export const MAX_REASON_CHARS = 10_000;
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;
export const IDEMPOTENCY_KEPT_HOURS = 24;

export const DEFAULT_LEASE_SECONDS = 900;
export const MAX_LEASE_SECONDS = 86_400;
/** A session that is older than this is no agent run any more. */
export const MAX_AGE_LIMIT_SECONDS = 366 * 86_400;
export const MAX_STACK_POSITION = 2_147_483_647;

/** Below the lowest position: what is above it is all there is. */
export const ALL_POSITIONS = -1;

export const MAX_CALL_TIMEOUT_MS = 3_600_000;

export const MAX_RETRIES = 20;
export const MAX_TIMEOUT_MS = 60_000;
export const MAX_BACKOFF_MS = 3_600_000;
export const MAX_CONFIRM_BUDGET_MS = 3_600_000;
/** Workers lost one after the other while they asked a vendor about one entry; then that entry is what kills them. */
export const MAX_LOST_ASKERS = 20;
export const MAX_URL_CHARS = 4000;
export const MAX_HEADERS = 50;
export const MAX_HEADER_CHARS = 4000;
/** How long a signing secret that was replaced goes on signing beside its successor. */
export const SIGNING_OVERLAP_HOURS = 24;
export const MAX_KEY_TTL_SECONDS = 366 * 86_400;
export const MAX_UNDO_DEADLINE_SECONDS = 10 * 366 * 86_400;
export const MAX_BODY_RULES = 50;
/** A vendor's Retry-After is honoured up to this long. */
export const MAX_PARK_MS = 24 * 3_600_000;
export const MAX_ANSWER_BYTES = 64 * 1024;

export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 200;
/** Dead letters that one bulk request works on. */
export const MAX_BULK_LETTERS = 1000;
export const MAX_BULK_PER_SECOND = 1000;

/** CloudEvents of one batch. */
export const MAX_EVENTS = 500;
export const MAX_EVENT_ID_CHARS = 255;
export const MAX_EVENT_SOURCE_CHARS = 2048;
