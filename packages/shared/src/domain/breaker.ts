import { MAX_PARK_MS } from './limits.js';

/**
 * The breaker of one org for one host: it tells a vendor's outage from one entry's bad luck, and has the host's entries
 * wait instead of using up their budgets.
 *
 * ```
 * closed    ─enough tries failed, of enough sessions▶ open
 * open      ─its time has come; one entry is let through▶ half_open
 * half_open ─that one was answered▶ closed      ─it was not▶ open, for twice as long
 * ```
 *
 * Pure: time is an argument, and whoever holds the record decides what becomes of it.
 */
export const BREAKER_STATES = ['closed', 'open', 'half_open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** Failures count together when they come within this long. */
export const BREAKER_WINDOW_MS = 60_000;
/** A single session with four tries must never be enough, so there must be this many failures per session that counts. */
const FAILURES_PER_SESSION = 2;
/** The wait before the first entry is let through; each one that fails doubles it. */
const FIRST_PROBE_MS = 1000;
const MAX_PROBE_MS = 60_000;
/** While one entry is on its way, another look is worth while after this long. */
const HALF_OPEN_LOOK_MS = 1000;
/** Waiting entries come back one after the other at this rate, so that a vendor that recovers is not flooded. */
export const DRAIN_PER_SECOND = 10;

export interface Breaker {
  readonly state: BreakerState;
  /** When it opened or closed; being half open for a while changes nothing. */
  readonly sinceMs: number;
  readonly windowAtMs: number;
  /** In this window: tries that the host did not answer, tries that it did, and whose failed. */
  readonly failures: number;
  readonly answers: number;
  readonly failingSessions: readonly string[];
  /** When an entry is let through; null: closed. */
  readonly retryAtMs: number | null;
  readonly failedProbes: number;
  /** No waiting entry comes back before this. */
  readonly nextSlotAtMs: number;
}

export type BreakerEvent =
  /** An entry is about to be tried; `leaseMs`: how long another one waits should its try never be told of. */
  | { readonly kind: 'ask'; readonly leaseMs: number }
  | { readonly kind: 'failed'; readonly sessionId: string; readonly probe: boolean }
  /** The entry that was let through made no call, or was answered. */
  | { readonly kind: 'not_called' | 'answered' };

/** Whether the entry goes on as if there were no breaker, is the one that is let through, or waits. */
export type Pass =
  { readonly kind: 'go' } | { readonly kind: 'probe' } | { readonly kind: 'wait'; readonly waitMs: number };

export interface BreakerRules {
  /** It opens when entries of this many sessions failed; 0: never. */
  readonly minSessions: number;
}

const GO: Pass = { kind: 'go' };

export function closedBreaker(nowMs: number): Breaker {
  return {
    state: 'closed',
    sinceMs: nowMs,
    windowAtMs: nowMs,
    failures: 0,
    answers: 0,
    failingSessions: [],
    retryAtMs: null,
    failedProbes: 0,
    nextSlotAtMs: nowMs,
  };
}

/** Nobody waits for a host for ever: after a day the entries use up their budgets as if there were no breaker. */
function givenUp(breaker: Breaker, nowMs: number): boolean {
  return nowMs - breaker.sinceMs >= MAX_PARK_MS;
}

/** What happened in an earlier window no longer counts. */
function inWindow(breaker: Breaker, nowMs: number): Breaker {
  if (nowMs - breaker.windowAtMs <= BREAKER_WINDOW_MS) return breaker;
  return { ...breaker, windowAtMs: nowMs, failures: 0, answers: 0, failingSessions: [] };
}

/** Tries that the host answered, of whichever entries. */
export function countAnswers(breaker: Breaker, answers: number, nowMs: number): Breaker {
  const now = inWindow(breaker, nowMs);
  return { ...now, answers: now.answers + answers };
}

function countFailure(breaker: Breaker, sessionId: string, nowMs: number, { minSessions }: BreakerRules): Breaker {
  const now = inWindow(breaker, nowMs);
  const known = now.failingSessions;
  // More sessions than are asked for need not be remembered.
  const enough = known.length >= minSessions || known.includes(sessionId);
  return { ...now, failures: now.failures + 1, failingSessions: enough ? known : [...known, sessionId] };
}

function isOutage({ failures, answers, failingSessions }: Breaker, { minSessions }: BreakerRules): boolean {
  const enough = failingSessions.length >= minSessions && failures >= FAILURES_PER_SESSION * minSessions;
  return enough && failures >= answers;
}

/** Keeps the record, and takes the next free moment for one entry. */
function waiting(breaker: Breaker, nowMs: number): { breaker: Breaker; pass: Pass } {
  const base = breaker.state === 'half_open' ? nowMs + HALF_OPEN_LOOK_MS : breaker.retryAtMs!;
  const atMs = Math.max(base, breaker.nextSlotAtMs);
  const nextSlotAtMs = atMs + 1000 / DRAIN_PER_SECOND;
  return {
    breaker: { ...breaker, nextSlotAtMs },
    pass: { kind: 'wait', waitMs: Math.max(1, Math.ceil(atMs - nowMs)) },
  };
}

function opened(breaker: Breaker, failedProbes: number, nowMs: number): Breaker {
  const retryAtMs = nowMs + Math.min(FIRST_PROBE_MS * 2 ** failedProbes, MAX_PROBE_MS);
  return { ...breaker, state: 'open', retryAtMs, failedProbes };
}

function afterFailure(
  breaker: Breaker,
  event: Extract<BreakerEvent, { kind: 'failed' }>,
  nowMs: number,
  rules: BreakerRules,
): Breaker {
  if (breaker.state === 'closed') {
    const now = countFailure(breaker, event.sessionId, nowMs, rules);
    return isOutage(now, rules) ? opened({ ...now, sinceMs: nowMs }, 0, nowMs) : now;
  }
  return event.probe ? opened(breaker, breaker.failedProbes + 1, nowMs) : breaker;
}

/** What an event makes of the breaker, and what it means for the entry. */
export function stepBreaker(
  breaker: Breaker,
  event: BreakerEvent,
  nowMs: number,
  rules: BreakerRules,
): { readonly breaker: Breaker; readonly pass: Pass } {
  switch (event.kind) {
    case 'ask':
      if (breaker.state === 'closed') return { breaker, pass: GO };
      if (givenUp(breaker, nowMs)) return { breaker, pass: { kind: 'probe' } };
      if (breaker.retryAtMs! > nowMs) return waiting(breaker, nowMs);
      return {
        breaker: { ...breaker, state: 'half_open', retryAtMs: nowMs + event.leaseMs },
        pass: { kind: 'probe' },
      };
    case 'failed': {
      const now = afterFailure(breaker, event, nowMs, rules);
      return now.state === 'closed' || givenUp(now, nowMs) ? { breaker: now, pass: GO } : waiting(now, nowMs);
    }
    case 'answered':
      // The moments that were handed out stay handed out: those who wait come back at the rate of before.
      return { breaker: { ...closedBreaker(nowMs), nextSlotAtMs: breaker.nextSlotAtMs }, pass: GO };
    case 'not_called':
      return {
        breaker: breaker.state === 'half_open' ? { ...breaker, state: 'open', retryAtMs: nowMs } : breaker,
        pass: GO,
      };
    default:
      return event satisfies never;
  }
}
