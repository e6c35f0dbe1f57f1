import { rounded } from './machine.js';

export interface LatencyMs {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** @param samples milliseconds, in any order; at least one. */
export function latencyOf(samples: readonly number[]): LatencyMs {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const index = Math.min(sorted.length - 1, Math.floor(share * sorted.length));
    return rounded(sorted[index]!, 2);
  };
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}
