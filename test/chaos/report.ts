import type { Coverage } from './coverage.js';
import type { RunResult } from './run-seed.js';
import type { TestCounts } from '../support/test-counts.js';

const MOST_SHOWN = 5;

/** Prints how a run or a campaign went, and counts what held and what did not. */
export class Report {
  readonly counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };

  add(promise: string, violations: readonly string[]): void {
    const held = violations.length === 0;
    this.counts[held ? 'passed' : 'failed'] += 1;
    console.log(`${held ? '✔' : '✘'} ${promise}`);
    for (const violation of violations.slice(0, MOST_SHOWN)) console.log(`    ${violation}`);
    if (violations.length > MOST_SHOWN) console.log(`    and ${violations.length - MOST_SHOWN} more`);
  }

  addRun(seed: number, { verdicts, tally, sessions, effects, folder }: RunResult): void {
    for (const { invariant, looked, violations } of verdicts) {
      this.add(`${invariant.name} ${invariant.promise} (${looked})`, violations);
    }
    console.log(`seed ${seed}: ${sessions} sessions, ${effects} effects, ${tally.kills} kills`);
    if (verdicts.some(({ violations }) => violations.length > 0)) console.log(`what was seen is in ${folder}`);
  }

  addCampaign(results: readonly RunResult[], coverage: readonly Coverage[]): void {
    console.log('\nall runs');
    for (const { promise, missing } of coverage) this.add(promise, missing);
    const counts = new Map<string, number>();
    const recoveries = new Map<string, number[]>();
    for (const { tally } of results) {
      for (const [name, count] of tally.counts) counts.set(name, (counts.get(name) ?? 0) + count);
      for (const [name, took] of tally.recoveries) recoveries.set(name, [...(recoveries.get(name) ?? []), ...took]);
    }
    for (const [name, count] of [...counts].toSorted(([a], [b]) => a.localeCompare(b)))
      console.log(`  ${name}: ${count}`);
    for (const [name, took] of recoveries) {
      const sorted = took.toSorted((a, b) => a - b);
      const [median, worst] = [sorted[sorted.length >> 1]!, sorted.at(-1)!].map((ms) => (ms / 1000).toFixed(1));
      console.log(`  ${name}: median ${median} s, worst ${worst} s of ${took.length}`);
    }
  }
}
