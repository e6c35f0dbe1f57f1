import { FAULTS, LONG_FAULTS, type FaultName } from './faults/faults.js';

/** How much is asked of a run. */
export interface Tier {
  readonly runs: number;
  readonly faults: readonly FaultName[];
  /** The faults come again until so many processes were killed, and so many sessions begun. */
  readonly kills: number;
  readonly sessions: number;
  readonly agentsAtATime: number;
  /** How often a process is killed outright, on the average. Infinity: never, not even for a deadly call. */
  readonly killEveryMs: number;
  /** Undefined: Postgres is killed only where it is a fault's turn. */
  readonly postgresKilledEveryMs?: number;
  readonly deepCalls: number;
}

const ALL = Object.keys(FAULTS) as FaultName[];

/** What every change must pass. */
export const SHORT: Tier = {
  runs: 2,
  faults: ALL.filter((name) => !LONG_FAULTS.has(name)),
  kills: 100,
  sessions: 300,
  agentsAtATime: 16,
  killEveryMs: 4000,
  deepCalls: 150,
};

/** Before a release. */
export const LONG: Tier = {
  runs: 4,
  faults: ALL,
  kills: 260,
  sessions: 4200,
  agentsAtATime: 32,
  killEveryMs: 3000,
  postgresKilledEveryMs: 7500,
  deepCalls: 1000,
};
