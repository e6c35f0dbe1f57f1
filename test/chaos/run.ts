/**
 * `npm run chaos [-- --seed N] [--long]`: UndoLog under fire, judged by a checker that shares no code with it. With a seed,
 * the one run that it names is made again. The last line is plain: how many promises held, over all runs.
 */
import { parseArgs } from 'node:util';
import { verdictLine } from '../support/test-counts.js';
import { coverageOf } from './coverage.js';
import { Report } from './report.js';
import { runSeed, type RunResult } from './run-seed.js';
import { NoRedis } from './stage/stage.js';
import { LONG, SHORT } from './tiers.js';

// What is to be gone with us is told so by our exit, and by nothing else.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({ options: { seed: { type: 'string' }, long: { type: 'boolean', default: false } } });

const tier = values.long ? LONG : SHORT;
const firstSeed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const runs = values.seed === undefined ? tier.runs : 1;
const report = new Report();
const results: RunResult[] = [];

async function campaign(): Promise<void> {
  const startedMs = performance.now();
  const log = (line: string): void => console.log(`  ${Math.round((performance.now() - startedMs) / 1000)} s  ${line}`);
  for (let run = 0; run < runs; run++) {
    const seed = firstSeed + run;
    console.log(
      `\nrun ${run + 1} of ${runs}; again by: npm run chaos -- --seed ${seed}${values.long ? ' --long' : ''}`,
    );
    const result = await runSeed({ ...tier, seed, log });
    results.push(result);
    report.addRun(seed, result);
  }
  report.addCampaign(results, values.seed === undefined ? coverageOf(results, tier) : []);
}

await campaign().catch((error: unknown) => {
  if (!(error instanceof NoRedis)) throw error;
  console.log(`skipped: ${error.message}`);
  report.counts.skipped += 1;
});
console.log(verdictLine(report.counts));
process.exitCode = Math.min(report.counts.failed, 1);
