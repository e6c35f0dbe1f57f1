/** `npm run demo`: runs the experiment and prints one table. Exit code 1 when a ledger disagrees with UndoLog. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runExperiment, type KeptRun } from './experiment.js';
import { createTripBatch } from './itineraries.js';
import { parseOptions, USAGE, type DemoOptions } from './options.js';
import { startUndoLog, type UndoLogProcesses } from './processes.js';
import { createProgress } from './progress.js';
import type { DemoReport } from './report.js';
import { renderTable } from './table.js';

const INTERRUPTED = 130;

const progress = createProgress(process.stderr);
const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);

async function main(options: DemoOptions): Promise<number> {
  const logDirectory = await mkdtemp(join(tmpdir(), 'undolog-demo-'));
  const kept: KeptRun[] = [];
  const starting = startUndoLog({ logDirectory, log: progress.log });
  let exitCode = 1;
  try {
    exitCode = await Promise.race([
      demonstrate(options, starting, kept, logDirectory),
      interrupted.then(() => INTERRUPTED),
    ]);
    if (options.keep && exitCode !== INTERRUPTED) {
      printKept(await starting, kept, logDirectory);
      await interrupted;
    }
  } finally {
    await Promise.all(kept.map(({ vendors }) => vendors.stop()));
    // An interrupted start is waited for, so that nothing it started is left behind.
    const undolog = await starting.catch(() => undefined);
    await undolog?.stop();
    // After a failure the processes' logs are worth more than a clean folder.
    if (exitCode === 1) progress.log(`logs are in ${logDirectory}`);
    else await rm(logDirectory, { recursive: true, force: true });
  }
  return exitCode;
}

/** Runs the experiment, prints its report, and returns the exit code. */
async function demonstrate(
  options: DemoOptions,
  starting: Promise<UndoLogProcesses>,
  kept: KeptRun[],
  logDirectory: string,
): Promise<number> {
  const startedMs = performance.now();
  const undolog = await starting;
  progress.log(undolog.backends);
  const batch = createTripBatch(options.seed, options.trips);
  const runs = await runExperiment({ batch, undolog, progress, logDirectory, keep: (run) => kept.push(run) });
  const report: DemoReport = {
    seed: options.seed,
    trips: options.trips,
    backends: undolog.backends,
    runs,
    duration_ms: Math.round(performance.now() - startedMs),
    agreed: runs.every(({ disagreements }) => disagreements.length === 0),
  };
  print(report, options);
  return report.agreed ? 0 : 1;
}

function print(report: DemoReport, options: DemoOptions): void {
  process.stdout.write(`${options.json ? JSON.stringify(report) : renderTable(report.runs)}\n`);
  for (const { run, disagreements } of report.runs) {
    for (const { trip, detail } of disagreements) progress.log(`${run}, ${trip}: ${detail}`);
  }
  const verdict = report.agreed ? 'every ledger agrees with UndoLog' : 'a ledger DISAGREES with UndoLog';
  progress.log(`${verdict} · seed ${report.seed} · ${(report.duration_ms / 1_000).toFixed(1)} s in all`);
}

function printKept(undolog: UndoLogProcesses, kept: readonly KeptRun[], logDirectory: string): void {
  progress.log(`api           ${undolog.apiUrl} (docs at /docs)`);
  progress.log(`admin token   ${undolog.adminToken}`);
  for (const url of undolog.compensatorHealthUrls) progress.log(`compensator   ${url}/metrics`);
  progress.log(`DATABASE_URL  ${undolog.databaseUrl}`);
  progress.log(`REDIS_URL     ${undolog.redisUrl ?? '(unset: the queue is in Postgres)'}`);
  for (const { run, vendors, org } of kept) {
    if (org !== undefined) progress.log(`${run}: key ${org.apiKey}`);
    for (const [kind, url] of Object.entries(vendors.urls)) progress.log(`${run}: ${kind} ledger ${url}/ledger`);
  }
  progress.log(`logs          ${logDirectory}`);
  progress.log('everything is left running; Ctrl-C stops it');
}

function readOptions(): DemoOptions | undefined {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    progress.log(`${String(error)}\n${USAGE}`);
    return undefined;
  }
}

const options = readOptions();
try {
  process.exit(options === undefined ? 1 : await main(options));
} catch (error) {
  progress.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}
