import type { LedgerVerdict } from './audit-ledgers.js';
import type { Disagreement } from './compare-claims.js';
import type { TripClaim } from './undolog-claims.js';

/** The figures of one run, as `--json` prints them. Money in cents. */
export interface RunReport {
  readonly run: string;
  readonly trips_completed: number;
  readonly failed_sagas: number;
  readonly orphaned_cost_cents: number;
  readonly fully_compensated: number;
  /** From 0 to 1 of the failed sagas; null when none failed. */
  readonly fully_compensated_share: number | null;
  /** Sessions whose undo UndoLog says is still on its way; null in a run without UndoLog. */
  readonly waiting: number | null;
  /** Sessions that UndoLog calls halted, and undo entries that it calls unconfirmed; null in a run without UndoLog. */
  readonly halted: number | null;
  readonly unconfirmed: number | null;
  readonly order_violations: number;
  readonly duration_ms: number;
  /** Where a ledger contradicts UndoLog. */
  readonly disagreements: readonly Disagreement[];
}

export interface DemoReport {
  readonly seed: number;
  readonly trips: number;
  readonly backends: string;
  readonly runs: readonly RunReport[];
  readonly duration_ms: number;
  /** Whether every ledger agrees with UndoLog. */
  readonly agreed: boolean;
}

/** Puts the ledgers' verdict beside what UndoLog says; `claims` is undefined in a run without UndoLog. */
export function reportRun(o: {
  readonly run: string;
  readonly verdict: LedgerVerdict;
  readonly claims: readonly TripClaim[] | undefined;
  readonly disagreements: readonly Disagreement[];
  readonly durationMs: number;
}): RunReport {
  const { verdict, claims } = o;
  return {
    run: o.run,
    trips_completed: verdict.tripsCompleted,
    failed_sagas: verdict.failedSagas,
    orphaned_cost_cents: verdict.orphanedCents,
    fully_compensated: verdict.fullyCompensated,
    fully_compensated_share: verdict.failedSagas === 0 ? null : verdict.fullyCompensated / verdict.failedSagas,
    waiting: inState(claims, 'compensating'),
    halted: inState(claims, 'halted'),
    unconfirmed:
      claims === undefined
        ? null
        : claims.flatMap(({ undos }) => undos).filter(({ state }) => state === 'unconfirmed').length,
    order_violations: verdict.orderViolations.length,
    duration_ms: Math.round(o.durationMs),
    disagreements: o.disagreements,
  };
}

function inState(claims: readonly TripClaim[] | undefined, wanted: TripClaim['state']): number | null {
  return claims === undefined ? null : claims.filter(({ state }) => state === wanted).length;
}
