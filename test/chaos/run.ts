/**
 * `npm run chaos [-- --seed N] [--runs N] [--long]`: UndoLog under fire, judged by a checker that shares no code with it.
 * The last line is plain: how many invariants held, over all runs.
 */
import { parseArgs } from 'node:util';
import { verdictLine, type TestCounts } from '../support/test-counts.js';
import { FAULTS, type FaultName } from './faults/faults.js';
import { runSeed, type RunResult } from './run-seed.js';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, runs: { type: 'string' }, long: { type: 'boolean', default: false } },
});

const CI = { runs: 3, kills: 70, sessions: 300, agentsAtATime: 16, killEveryMs: 2500 };
const LONG = { runs: 4, kills: 260, sessions: 4500, agentsAtATime: 24, killEveryMs: 3000 };
const MOST_SHOWN = 5;

const { runs: usualRuns, ...tier } = values.long ? LONG : CI;
const firstSeed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const runs = Number(values.runs ?? (values.seed === undefined ? usualRuns : 1));
const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };

function report(seed: number, { verdicts, tally, sessions, effects, folder }: RunResult): void {
  for (const { invariant, looked, violations } of verdicts) {
    counts[violations.length === 0 ? 'passed' : 'failed'] += 1;
    console.log(`${violations.length === 0 ? '✔' : '✘'} ${invariant.name} ${invariant.promise} (${looked})`);
    for (const violation of violations.slice(0, MOST_SHOWN)) console.log(`    ${violation}`);
    if (violations.length > MOST_SHOWN) console.log(`    and ${violations.length - MOST_SHOWN} more`);
  }
  for (const [name, count] of [...tally.counts].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`  ${name}: ${count}`);
  for (const [name, took] of tally.recoveries) {
    const sorted = took.toSorted((a, b) => a - b);
    console.log(
      `  ${name}: median ${Math.round(sorted[sorted.length >> 1]!)} ms, worst ${Math.round(sorted.at(-1)!)} ms`,
    );
  }
  console.log(`seed ${seed}: ${sessions} sessions, ${effects} effects, ${tally.kills} kills`);
  if (verdicts.some(({ violations }) => violations.length > 0)) console.log(`what was seen is in ${folder}`);
}

const startedMs = performance.now();
for (let run = 0; run < runs; run++) {
  const seed = firstSeed + run;
  console.log(`\nrun ${run + 1} of ${runs}; again by: npm run chaos -- --seed ${seed}${values.long ? ' --long' : ''}`);
  const log = (line: string): void => console.log(`  ${Math.round((performance.now() - startedMs) / 1000)} s  ${line}`);
  report(seed, await runSeed({ ...tier, seed, faults: Object.keys(FAULTS) as FaultName[], log }));
}
console.log(verdictLine(counts));
process.exitCode = Math.min(counts.failed, 1);
