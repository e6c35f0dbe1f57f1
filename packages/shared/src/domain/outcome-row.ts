import type { UndoState } from './states.js';
import type { UndoCode } from './undo-codes.js';
import type { UndoProof } from './verdict.js';

/** One thing that can come of an undo entry, and what follows. */
export interface OutcomeRow {
  /** What the vendor, or the lack of it, amounts to. */
  readonly when: string;
  /** What UndoLog does about it. */
  readonly does: string;
  /** How the entry ends; `running`: it waits. */
  readonly state: UndoState;
  readonly code?: UndoCode;
  readonly proof?: UndoProof;
  /** Of a skipped entry. */
  readonly reason?: string;
}
