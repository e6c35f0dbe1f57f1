/** What an unwind would do with one entry, if it began now. */
export const PLAN_ACTIONS = ['call', 'lookup', 'skip'] as const;
export type PlanAction = (typeof PLAN_ACTIONS)[number];

export interface PlanStep {
  /** The session itself, or a child that is undone with it. */
  readonly session_id: string;
  readonly stack_position: number;
  readonly undo_id: string;
  /** Null: nothing undoes the effect. */
  readonly fn_name: string | null;
  readonly version: string | null;
  readonly action: PlanAction;
  readonly reason: string;
}

export interface UnwindPlan {
  /** In the order in which they would run. */
  readonly steps: readonly PlanStep[];
  /** Irreversible effects. */
  readonly cannot_undo: readonly string[];
  /** Effects of which nobody knows whether they took place. */
  readonly unknown: readonly string[];
}

/** An entry that is not settled, as far as it decides what would be done with it. */
export interface PlannedEntry {
  readonly sessionId: string;
  readonly effectId: string;
  readonly undoId: string;
  readonly stackPosition: number;
  readonly fnName: string | null;
  readonly version: string | null;
  /** What is known of the effect; `found`: a lookup has seen it. */
  readonly outcome: 'committed' | 'found' | 'unknown';
  readonly hasLookup: boolean;
  /** The undo's arguments can be filled in. */
  readonly bound: boolean;
  /** The vendor has said that it is undone; only its record is still asked. */
  readonly confirming: boolean;
  /** The vendor's window for the undo is over. */
  readonly tooLate: boolean;
}

function judge(entry: PlannedEntry): Pick<PlanStep, 'action' | 'reason'> {
  if (entry.fnName === null) return { action: 'skip', reason: 'irreversible' };
  if (entry.confirming) return { action: 'lookup', reason: 'confirming' };
  if (entry.outcome === 'unknown' && entry.hasLookup) return { action: 'lookup', reason: 'outcome_unknown' };
  if (!entry.bound) return { action: 'skip', reason: 'missing_result' };
  if (entry.tooLate) return { action: 'skip', reason: 'undo_deadline_passed' };
  return { action: 'call', reason: entry.outcome === 'unknown' ? 'outcome_unknown' : entry.outcome };
}

/** `entries`: those that are not settled, in the order in which they run. */
export function planUnwind(entries: readonly PlannedEntry[]): UnwindPlan {
  const steps = entries.map((entry) => ({
    session_id: entry.sessionId,
    stack_position: entry.stackPosition,
    undo_id: entry.undoId,
    fn_name: entry.fnName,
    version: entry.version,
    ...judge(entry),
  }));
  return {
    steps,
    cannot_undo: entries.filter((entry) => entry.fnName === null).map((entry) => entry.effectId),
    unknown: entries.filter((entry) => entry.outcome === 'unknown').map((entry) => entry.effectId),
  };
}
