import type { SessionState } from './states.js';
import type { UndoCode } from './undo-codes.js';

/** Why an entry that is next may wait without a call of its own having failed. */
export const WAITING_CODES = [
  'compensation_paused',
  'host_unavailable',
  'encryption_key_missing',
] as const satisfies readonly UndoCode[];

/** What waits for somebody at one moment, over all orgs. */
export interface Standing {
  /** Sessions whose unwind is under way, and those that wait for a person; no others are counted. */
  readonly sessionsByState: Readonly<Record<Extract<SessionState, 'failed' | 'compensating' | 'halted'>, number>>;
  /** Age of the unwind that goes on longest; 0 when none does. */
  readonly oldestUnwindingSeconds: number;
  readonly openDeadLetters: number;
  /** Age of the session that has been halted longest; 0 when none is. */
  readonly oldestHaltedSeconds: number;
  /** Hosts, each of one org, whose entries wait for it. */
  readonly openBreakers: number;
  /** Entries that are next and wait, of the first sessions that were looked at. */
  readonly waitingByCode: Readonly<Record<(typeof WAITING_CODES)[number], number>>;
  /** Those that were seen within half a minute. */
  readonly processesByRole: Readonly<Record<'api' | 'compensator', number>>;
}
