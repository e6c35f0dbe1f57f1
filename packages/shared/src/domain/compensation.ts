/**
 * A compensation as it stands in the registry: how one effect is undone, and how the vendor is asked whether it took.
 * Field names and units are those of the wire; defaults are already filled in.
 */

export const COMPENSATION_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type CompensationMethod = (typeof COMPENSATION_METHODS)[number];

export const JITTERS = ['full', 'equal', 'none'] as const;
export type Jitter = (typeof JITTERS)[number];

export interface RetryPolicy {
  /** Calls after the first one; 3 means at most four calls. */
  readonly max_retries: number;
  readonly initial_ms: number;
  readonly multiplier: number;
  readonly max_ms: number;
  readonly jitter: Jitter;
}

export const BODY_RULE_VERDICTS = ['done', 'retry', 'permanent', 'unknown'] as const;
export type BodyRuleVerdict = (typeof BODY_RULE_VERDICTS)[number];

/** Exactly one of `equals`, `in` and `exists` is present. Values are compared by JSON value. */
export interface BodyRule {
  readonly pointer: string;
  readonly equals?: unknown;
  readonly in?: readonly unknown[];
  readonly exists?: boolean;
  readonly is: BodyRuleVerdict;
}

/** Which answers mean what, beyond the defaults; the first match in this order wins: body, done, retry, permanent. */
export interface OutcomeMap {
  readonly done: readonly number[];
  readonly retry: readonly number[];
  readonly permanent: readonly number[];
  readonly body: readonly BodyRule[];
}

export interface ConfirmSpec {
  readonly url: string;
  readonly done_when?: { readonly pointer: string; readonly equals: unknown };
  readonly done_on_status: readonly number[];
  /** Exactly one of `equals` and `in`: what the record shows when the undo was accepted and did not come about. */
  readonly failed_when?: { readonly pointer: string; readonly equals?: unknown; readonly in?: readonly unknown[] };
  readonly budget_ms: number;
  readonly interval_ms: number;
}

export interface LookupSpec {
  readonly url: string;
  readonly result_pointer: string;
  readonly absent_on_status: readonly number[];
  readonly settle_ms: number;
}

/** A header value as sent, or the name of a secret of the org whose value is sent. */
export type HeaderValue = string | { readonly secret: string };

export interface Compensation {
  readonly url: string;
  readonly method: CompensationMethod;
  readonly timeout_ms: number;
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly retry: RetryPolicy;
  readonly outcomes: OutcomeMap;
  readonly confirm?: ConfirmSpec;
  readonly lookup?: LookupSpec;
  readonly async: boolean;
  /** Whether its entries wait while their host is down; false: they use up their budgets and halt. */
  readonly wait_out_outages: boolean;
  /** How long the vendor is known to keep an idempotency key; a call is not repeated blindly under an older one. */
  readonly key_ttl_seconds: number;
  /** The vendor's window for the undo, from the effect's commit; past it nothing is called. */
  readonly undo_deadline_seconds?: number;
}

/** Whom a compensation calls: scheme, name and port. */
export function hostOf({ url }: Pick<Compensation, 'url'>): string {
  return new URL(url).origin;
}

export const DEFAULT_RETRY: RetryPolicy = {
  max_retries: 3,
  initial_ms: 100,
  multiplier: 2,
  max_ms: 5000,
  jitter: 'equal',
};

export const DEFAULT_TIMEOUT_MS = 10_000;
export const DEFAULT_KEY_TTL_SECONDS = 86_400;

export const DEFAULT_CONFIRM_BUDGET_MS = 30_000;
export const DEFAULT_CONFIRM_INTERVAL_MS = 250;
export const DEFAULT_LOOKUP_SETTLE_MS = 10_000;
