import { runIntake } from './intake.js';
import { readOptions, USAGE } from './options.js';
import { runTrip } from './trip.js';
import { runUnwind } from './unwind.js';
import { openWorkplace, type Workplace } from './workplace.js';

interface Outcome {
  /** One JSON line. */
  readonly result: object;
  /** False: the vendor's record shows that the run did not do its job, so that its speed means nothing. */
  readonly counts: boolean;
}

/** Reads the command line at once, so that a mistake is told before anything is started. */
function plan([command, ...args]: readonly string[], env: NodeJS.ProcessEnv): (w: Workplace) => Promise<Outcome> {
  switch (command) {
    case 'trip': {
      const options = readOptions(args, env, { sessions: 1500, concurrency: 64, compensators: 2, events: 0 });
      return (workplace) => runTrip(workplace, options);
    }
    case 'unwind': {
      const options = readOptions(args, env, { sessions: 3000, depth: 2, rows: 0, compensators: 2 });
      return (workplace) => runUnwind(workplace, options);
    }
    case 'intake': {
      const defaults = { registrations: 20_000, concurrency: 64, rate: 300, 'pgbench-clients': 16 };
      const options = readOptions(args, env, defaults);
      return (workplace) => runIntake(workplace, { ...options, pgbenchClients: options['pgbench-clients'] });
    }
    default:
      throw new Error(USAGE);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function main(): Promise<number> {
  let run: (workplace: Workplace) => Promise<Outcome>;
  try {
    run = plan(process.argv.slice(2), process.env);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return 2;
  }
  const workplace = openWorkplace();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void workplace.leave(false).then(() => process.exit(1)));
  }
  let counts = false;
  try {
    const outcome = await run(workplace);
    ({ counts } = outcome);
    process.stdout.write(`${JSON.stringify(outcome.result)}\n`);
    if (!counts) workplace.log("this run does not count: see the vendor's record in the result");
  } catch (error) {
    workplace.log(messageOf(error));
  }
  await workplace.leave(!counts);
  return counts ? 0 : 1;
}

process.exitCode = await main();
