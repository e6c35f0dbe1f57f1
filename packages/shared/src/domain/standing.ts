import type { SessionState } from './states.js';

/** What waits for somebody at one moment, over all orgs. */
export interface Standing {
  /** Sessions whose unwind is under way, and those that wait for a person; no others are counted. */
  readonly sessionsByState: Readonly<Record<Extract<SessionState, 'failed' | 'compensating' | 'halted'>, number>>;
  readonly openDeadLetters: number;
  /** Age of the session that has been halted longest; 0 when none is. */
  readonly oldestHaltedSeconds: number;
  /** Hosts, each of one org, whose entries wait for it. */
  readonly openBreakers: number;
}
