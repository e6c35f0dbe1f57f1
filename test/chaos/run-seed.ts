import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSeededRandom, type SeededRandom } from '@undolog/demo/seeded-random';
import { Crowd } from './agents/crowd.js';
import { Operator } from './agents/operator.js';
import type { RunFacts } from './checker/evidence.js';
import { check, type Verdict } from './checker/invariants.js';
import { nextTriesMs } from './checker/next-tries.js';
import { readEvidence } from './checker/read-evidence.js';
import { FAULTS } from './faults/faults.js';
import { collectLeavings } from './stage/leavings.js';
import { Stage, type StageOptions } from './stage/stage.js';
import type { Tally } from './stage/tally.js';
import type { Tier } from './tiers.js';
import type { MannerName } from './vendor/manners.js';

export interface RunOptions extends StageOptions, Omit<Tier, 'runs'> {
  /** What every other call meets at the vendor. */
  readonly often?: MannerName | undefined;
  readonly log: (line: string) => void;
}

export interface RunResult {
  readonly verdicts: readonly Verdict[];
  readonly tally: Tally;
  readonly sessions: number;
  readonly effects: number;
  /** How the vendor treated undos, by name. */
  readonly manners: readonly string[];
  /** Left for a person to look at when something was violated. */
  readonly folder: string;
}

const QUIET_MS = 8000;
const LONGEST_FIRE_MS = 20 * 60_000;
const SETTLE_LIMIT_MS = 70_000;
const SEAL_MS = 4000;
const DEADLY_PAUSE_MS = 300;

/** Kills one process after the other, without asking where they are. */
async function killAtRandom(stage: Stage, random: SeededRandom, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.between(everyMs / 2, everyMs * 1.5));
    const victim = stage.processes[random.between(0, stage.processes.length - 1)]!;
    if (!signal.aborted) await victim.kill();
  }
}

async function killPostgresAgain(
  stage: Stage,
  random: SeededRandom,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.between(everyMs * (2 / 3), everyMs * (4 / 3)));
    if (!signal.aborted) await stage.killPostgres();
  }
}

function killWhoCalls(stage: Stage): void {
  let nextMs = 0;
  stage.vendor.onDeadly = () => {
    if (performance.now() < nextMs || stage.calm) return;
    nextMs = performance.now() + DEADLY_PAUSE_MS;
    stage.tally.count('a call that kills its caller');
    for (const one of stage.compensators) void one.kill();
  };
}

/** Faults one after the other in the seed's order, again and again until there was enough of everything. */
async function strikeAll(stage: Stage, random: SeededRandom, crowd: Crowd, options: RunOptions): Promise<void> {
  const { faults, kills, sessions, log } = options;
  const endsAtMs = performance.now() + LONGEST_FIRE_MS;
  const enough = (): boolean => stage.tally.kills >= kills && crowd.started >= sessions;
  for (let round = 0; round === 0 || (!enough() && performance.now() < endsAtMs); round++) {
    for (const index of random.sample(faults.length, faults.length)) {
      if (round > 0 && enough()) return;
      const name = faults[index]!;
      log(`${name} (${stage.tally.kills} kills, ${crowd.started} sessions)`);
      await FAULTS[name](stage);
      stage.tally.count(name);
      const tookMs = await crowd.probe();
      if (tookMs !== undefined) stage.tally.recovered(`${name}, healed → a new session undone`, tookMs);
      await sleep(random.between(100, 500));
    }
  }
}

async function unsettled(stage: Stage): Promise<number> {
  const [row] = await stage.rows<{ open: number }>(
    `SELECT count(*)::int AS open FROM undolog_sessions WHERE state IN ('active', 'failed', 'compensating')`,
  );
  return row!.open;
}

async function settle(stage: Stage, crowd: Crowd): Promise<void> {
  const limit = AbortSignal.timeout(SETTLE_LIMIT_MS);
  const away = crowd.close();
  await Promise.race([away, new Promise<void>((resolve) => limit.addEventListener('abort', () => resolve()))]);
  while (!limit.aborted) {
    if ((await unsettled(stage)) === 0) {
      stage.history.note('settled', {});
      return;
    }
    await sleep(200);
  }
}

async function fight(stage: Stage, crowd: Crowd, options: RunOptions): Promise<void> {
  const { seed, killEveryMs, postgresKilledEveryMs: postgresMs } = options;
  const [first, second] = [stage.tenants[0]!, stage.tenants[1]!];
  const operators = [
    new Operator(first, second, stage.history, seed + 1),
    new Operator(second, first, stage.history, seed + 2),
  ];
  stage.calm = false;
  // Armed from now on.
  await stage.restartAll();
  const over = new AbortController();
  const killing: Promise<void>[] = [];
  if (Number.isFinite(killEveryMs)) {
    killWhoCalls(stage);
    killing.push(killAtRandom(stage, createSeededRandom(seed + 3), killEveryMs, over.signal));
  }
  if (postgresMs !== undefined) {
    killing.push(killPostgresAgain(stage, createSeededRandom(seed + 5), postgresMs, over.signal));
  }
  for (const operator of operators) operator.begin();
  await strikeAll(stage, createSeededRandom(seed + 4), crowd, options);
  over.abort();
  await Promise.all(killing);
  stage.calm = true;
  stage.hops.heal();
  await Promise.all(operators.map((operator) => operator.stop()));
  for (const tookMs of await stage.restartAll()) {
    if (tookMs !== undefined) stage.tally.recovered('SIGTERM → ended', tookMs);
  }
  await stage.untilReady();
}

/** One run: a quiet time, a fight, and peace; then everybody is asked what they saw. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const stage = await Stage.open(options);
  try {
    const crowd = new Crowd(stage, options);
    const quietFromMs = Date.now();
    crowd.letIn(options.agentsAtATime);
    await sleep(QUIET_MS);
    const quietToMs = Date.now();
    await fight(stage, crowd, options);
    const healedAtMs = Date.now();
    await settle(stage, crowd);
    stage.tally.recovered('last fault → every session ended', Date.now() - healedAtMs);
    await sleep(SEAL_MS);
    await collectLeavings(stage);
    await stage.endProduct();
    const facts: RunFacts = {
      plannedSessions: crowd.started,
      faults: Object.fromEntries(stage.tally.counts),
      canaries: stage.tenants.flatMap(({ canaries }) => canaries),
      healedAtMs,
      quietMs: [quietFromMs, quietToMs],
    };
    await writeFile(join(stage.folder, 'run.json'), JSON.stringify(facts, null, 2));
    const evidence = await readEvidence(stage.folder, stage.postgres.url);
    const verdicts = check(evidence);
    for (const ms of nextTriesMs(evidence)) stage.tally.recovered('caller lost → the next try of its entry', ms);
    const { tally, folder } = stage;
    if (!process.env['KEEP'] && verdicts.every(({ violations }) => violations.length === 0)) await stage.removeFolder();
    const manners = new Set(evidence.calls.flatMap(({ kind, name }) => (kind === 'undo' ? [name] : [])));
    return {
      verdicts,
      tally,
      folder,
      sessions: evidence.sessions.length,
      effects: evidence.effects.length,
      manners: [...manners],
    };
  } finally {
    await stage.close();
  }
}
