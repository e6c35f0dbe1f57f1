import { Command, CommanderError } from 'commander';
import { addAccount } from './commands/account.js';
import { addCompensations } from './commands/compensations.js';
import { addCompletion } from './commands/completion.js';
import { addDemo } from './commands/demo.js';
import { addDlq } from './commands/dlq.js';
import { addKeys } from './commands/keys.js';
import { addLog } from './commands/log.js';
import { addSecrets } from './commands/secrets.js';
import { addSessions } from './commands/sessions.js';
import { addWebhooks } from './commands/webhooks.js';
import type { Context, Work } from './context.js';
import { describeError, EXIT, exitCodeOf, type ExitCode } from './exit-codes.js';
import { Output, type Streams } from './output.js';
import { clientFor, readSettings, type Environment } from './settings.js';

export interface Terminal extends Streams, Pick<Context, 'ask' | 'signal'> {
  readonly env: Environment;
  /** Whether what is written to stdout is seen in colours. */
  readonly color: boolean;
}

const EPILOGUE = `
Exit codes: 0 ok, 1 error, 2 usage, 3 not signed in or not allowed, 4 not found, 5 conflict, 6 partly done, 7 halted.
UNDOLOG_URL and UNDOLOG_API_KEY win over \`undolog login\`. NO_COLOR is honoured.`;

/** Runs one command line. @returns its exit code; nothing is thrown. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok;
  const program = new Command('undolog').description('rollback for AI agents').option('--json', 'for programs');
  const { stdout, stderr, env, signal, ask } = terminal;

  const run = async (work: Work): Promise<void> => {
    const output = new Output(
      { stdout, stderr },
      { json: program.opts<{ json?: boolean }>().json ?? false, color: terminal.color },
    );
    try {
      exitCode = (await work({ env, output, signal, ask, client: () => clientFor(readSettings(env)) })) ?? EXIT.ok;
    } catch (error) {
      output.note(`undolog: ${describeError(error)}`);
      exitCode = exitCodeOf(error);
    }
  };

  for (const add of [
    addSessions,
    addDlq,
    addCompensations,
    addLog,
    addAccount,
    addKeys,
    addSecrets,
    addWebhooks,
    addDemo,
    addCompletion,
  ])
    add(program, run);
  program.addHelpText('after', EPILOGUE);
  configure(program, terminal);
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  }
  return exitCode;
}

/** Every command, also of a command, writes to this terminal and ends no process; `--json` may stand behind any. */
function configure(command: Command, terminal: Terminal): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => terminal.stderr.write(text),
  });
  for (const sub of command.commands) {
    sub.option('--json', 'for programs').on('option:json', () => command.setOptionValue('json', true));
    configure(sub, terminal);
  }
}
