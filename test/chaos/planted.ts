/**
 * `npm run chaos:planted [-- --only WORDS]`: the suite against products that are wrong on purpose, one bug at a time, and
 * against the one that is not. It passes when every bug is found, and nothing where there is none.
 */
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { verdictLine, type TestCounts } from '../support/test-counts.js';
import { NOTHING_SEEN, type Verdict } from './checker/invariants.js';
import { plantedBuild } from './plants/planted-build.js';
import { PLANTS, type Plant } from './plants/plants.js';
import { runSeed } from './run-seed.js';
import type { Tier } from './tiers.js';

// What is to be gone with us is told so by our exit, and by nothing else.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({ options: { only: { type: 'string' }, seed: { type: 'string', default: '1' } } });

const NOTHING: Plant = { name: 'nothing', edits: [] };
const USUAL: Omit<Tier, 'runs'> = {
  faults: ['Redis flushed', 'answers of the vendor lost', 'Postgres killed', 'jobs forged'],
  kills: 15,
  sessions: 120,
  agentsAtATime: 16,
  killEveryMs: 1500,
  deepCalls: 20,
};

const counts: TestCounts = { passed: 0, failed: 0, skipped: 0 };

/** A run that was stopped by the bug has less to look at; that alone is no catch. */
function caughtBy(verdicts: readonly Verdict[]): Verdict[] {
  return verdicts.filter(
    ({ invariant, violations }) => invariant.name !== 'P' && violations.some((one) => one !== NOTHING_SEEN),
  );
}

async function tryPlant({ name, edits, manner, more }: Plant): Promise<void> {
  const build = await plantedBuild(edits);
  try {
    const place = { seed: Number(values.seed), root: build.root, log: () => undefined };
    const result = await runSeed({ ...USUAL, ...more, ...place, often: manner });
    const caught = caughtBy(result.verdicts);
    const right = caught.length > 0 === edits.length > 0;
    counts[right ? 'passed' : 'failed'] += 1;
    console.log(
      `${right ? '✔' : '✘'} ${name}: ${caught.map(({ invariant }) => invariant.name).join(', ') || 'nothing found'}`,
    );
    for (const { invariant, violations } of caught) console.log(`    ${invariant.name}: ${violations[0]}`);
    await rm(result.folder, { recursive: true, force: true });
  } finally {
    await build.remove();
  }
}

for (const plant of [NOTHING, ...PLANTS]) {
  if (values.only === undefined || plant.name.includes(values.only)) await tryPlant(plant);
}
console.log(verdictLine(counts));
process.exitCode = Math.min(counts.failed, 1);
