import type { Command } from 'commander';
import { RawJson, type BulkDeadLetters, type DeadLetter, type DrainProgress } from '@undolog/client';
import cliProgress from 'cli-progress';
import type { Context, Work } from '../context.js';
import { CommandFailed, EXIT, type ExitCode } from '../exit-codes.js';
import { explain } from '@undolog/client/explain';
import { cell, state } from '../output.js';
import { collect } from '../paging.js';

type Run = (work: Work) => Promise<void>;

/** Text that the person typed as JSON; it goes to the API as it is. */
function jsonOption(text: string): RawJson {
  try {
    return new RawJson(text);
  } catch {
    throw new CommandFailed(`not JSON: ${text}`, EXIT.usage);
  }
}

export function addDlq(program: Command, run: Run): void {
  const dlq = program.command('dlq').description('dead letters: sessions that wait for a person');
  dlq
    .command('list')
    .description('list dead letters, newest first')
    .option('--all', 'closed ones too')
    .option('--agent <name>', 'of this agent')
    .option('--fn <name>', 'broken at this compensation')
    .option('--host <origin>', 'broken at this host, such as https://hotels.example')
    .option('--code <code>', 'broken with this code, such as http_400')
    .option('--limit <n>', 'at most so many', '50')
    .action((options: { all?: boolean; agent?: string; fn?: string; host?: string; code?: string; limit: string }) =>
      run(async ({ client, output }) => {
        const { all, agent, fn, host, code, limit } = options;
        const filter = {
          ...(all ? {} : { state: 'open' as const }),
          ...(agent && { agent_name: agent }),
          ...(fn && { fn_name: fn }),
          ...(host && { host }),
          ...(code && { code }),
        };
        const found = await collect((page) => client().deadLetters.list({ ...filter, ...page }), Number(limit));
        if (output.json) return output.data(found);
        const heads = [
          'dead letter',
          'session',
          'position',
          'compensation',
          'code',
          'attempts',
          'waiting',
          'halted',
          '',
        ];
        output.table(heads, found.map(rowOf));
      }),
    );
  dlq
    .command('show <dead_letter_id>')
    .description('one dead letter, and what its code means')
    .action((id: string) =>
      run(async ({ client, output }) => {
        const letter = await client().deadLetters.get(id);
        if (output.json) return output.data(letter);
        const stack = await client().sessions.stack(letter.session_id);
        const entry = stack.find(({ undo_id: undoId }) => undoId === letter.undo_id);
        output.line(cell(letter.dead_letter_id, 'strong'), state(letter.state), 'version', letter.version);
        output.line('session', letter.session_id, 'position', letter.stack_position, letter.code);
        output.line(explain(letter.code));
        const { last_attempt: last } = letter;
        if (last) output.line('last attempt', last.at, last.status ?? last.error, last.outcome);
        output.line('broken', letter.broken.length, '· waiting behind', letter.not_undone.length);
        if (entry) {
          output.line('called with');
          output.data(entry.args);
        }
        output.line('more: undolog sessions show', letter.session_id);
      }),
    );
  addActions(dlq, run);
  addDrain(dlq, run);
}

function rowOf(letter: DeadLetter) {
  const compensation = letter.fn_name === null ? letter.child_session_id : `${letter.fn_name}@${letter.fn_version}`;
  return [
    letter.dead_letter_id,
    letter.session_id,
    letter.stack_position,
    compensation,
    letter.code,
    letter.attempts,
    letter.not_undone.length,
    letter.halted_at,
    state(letter.state),
  ];
}

interface ActionOptions {
  readonly undo?: string;
  readonly reason?: string;
  readonly args?: string;
  readonly fnVersion?: string;
  readonly evidence?: string;
}

function tell({ output }: Context, answer: { session_id?: string; state: string }): void {
  if (output.json) output.data(answer);
  else output.line(answer.session_id ?? 'the session', 'is', state(answer.state));
}

/** Acts on the letter as it is now: should it change in between, the API says so. */
function addActions(dlq: Command, run: Run): void {
  const act = (name: string, description: string): Command =>
    dlq.command(`${name} <dead_letter_id>`).description(description);
  act('retry', 'try the broken undo again, as it was or corrected')
    .option('--undo <undo_id>', 'this entry; by default the highest that is broken')
    .option('--args <json>', 'other arguments; only where no call can have taken effect')
    .option('--fn-version <version>', 'another version of the compensation')
    .option('--reason <text>', 'for the audit log')
    .action((id: string, { undo, args, fnVersion, reason }: ActionOptions) =>
      run(async (context) => {
        const body = {
          ...(undo && { undo_id: undo }),
          ...(args !== undefined && { args: jsonOption(args) }),
          ...(fnVersion && { version: fnVersion }),
          ...(reason && { reason }),
        };
        const { version } = await context.client().deadLetters.get(id);
        tell(context, await context.client().deadLetters.retry(id, body, { version }));
      }),
    );
  act('skip', 'leave the effect standing, and undo the rest')
    .requiredOption('--reason <text>', 'why it may stand')
    .option('--undo <undo_id>', 'this entry; by default the highest that is broken')
    .action((id: string, { undo, reason }: ActionOptions) =>
      run(async (context) => {
        const { version } = await context.client().deadLetters.get(id);
        const body = { reason: reason!, ...(undo && { undo_id: undo }) };
        tell(context, await context.client().deadLetters.skip(id, body, { version }));
      }),
    );
  act('resolve', 'end the session by hand; nothing more is called')
    .requiredOption('--reason <text>', 'what you did')
    .option('--evidence <json>', 'where it can be seen')
    .action((id: string, { reason, evidence }: ActionOptions) =>
      run(async (context) => {
        const { version } = await context.client().deadLetters.get(id);
        const body = { reason: reason!, ...(evidence !== undefined && { evidence: jsonOption(evidence) }) };
        tell(context, await context.client().deadLetters.resolve(id, body, { version }));
      }),
    );
  act('confirm', "only ask the vendor's record whether the undo took").action((id: string) =>
    run(async ({ client, output }) => {
      const answer = await client().deadLetters.confirm(id);
      if (output.json) output.data(answer);
      else if (answer.confirmed)
        output.line(cell('the record agrees', 'good'), '· the session is', state(answer.state));
      else output.line(cell('the record does not agree', 'unsure'), '· nothing was changed');
      return answer.confirmed ? EXIT.ok : EXIT.halted;
    }),
  );
}

interface DrainOptions {
  readonly agent?: string;
  readonly fn?: string;
  readonly code?: string;
  readonly action: BulkDeadLetters['action'];
  readonly reason?: string;
  readonly perSecond?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

function addDrain(dlq: Command, run: Run): void {
  dlq
    .command('drain')
    .description('act on all dead letters that a filter picks, after counting them')
    .option('--agent <name>', 'of this agent')
    .option('--fn <name>', 'broken at this compensation')
    .option('--code <code>', 'broken with this code')
    .option('--action <action>', 'retry, skip or resolve', 'retry')
    .option('--reason <text>', 'needed to skip and to resolve')
    .option('--per-second <n>', 'how many retried undos may be called each second')
    .option('--dry-run', 'only count')
    .option('--yes', 'do not ask')
    .action((options: DrainOptions) => run((context) => drain(context, options)));
}

async function drain(context: Context, options: DrainOptions): Promise<ExitCode | void> {
  const { client, output, ask } = context;
  const { agent, fn, code, action, reason, perSecond } = options;
  const filter = { ...(agent && { agent_name: agent }), ...(fn && { fn_name: fn }), ...(code && { code }) };
  if (Object.keys(filter).length === 0) throw new CommandFailed('say which: --agent, --fn or --code', EXIT.usage);
  const body: BulkDeadLetters = {
    action,
    filter,
    ...(reason && { reason }),
    ...(perSecond !== undefined && { per_second: Number(perSecond) }),
  };
  const { matched } = await client().deadLetters.bulk({ ...body, dry_run: true });
  if (options.dryRun || matched === 0) {
    if (output.json) return output.data({ matched });
    return output.line(matched, matched === 1 ? 'dead letter matches' : 'dead letters match');
  }
  if (!options.yes) {
    if (!ask) throw new CommandFailed(`${matched} match; say --yes to ${action} them`, EXIT.usage);
    const answer = await ask(`${action} ${matched} dead letters? (yes/no) `);
    if (answer.trim() !== 'yes') return output.note('nothing was done');
  }
  const done = await drainWithBar(context, body, matched);
  if (output.json) output.data({ matched, ...done });
  else
    output.line(done.applied, 'of', matched, 'done', done.refused.length > 0 ? `· ${done.refused.length} refused` : '');
  return done.applied === matched ? EXIT.ok : EXIT.partial;
}

async function drainWithBar({ client, output, signal }: Context, body: BulkDeadLetters, matched: number) {
  const bar = new cliProgress.SingleBar({
    format: '{bar} {value}/{total}',
    stream: process.stderr,
    noTTYOutput: false,
  });
  if (output.isWatched) bar.start(matched, 0);
  let done: Omit<DrainProgress, 'matched'> = { applied: 0, refused: [] };
  try {
    for await (const { applied, refused } of client().deadLetters.drain(body, signal)) {
      done = { applied, refused };
      if (output.isWatched) bar.update(Math.min(applied, matched));
    }
  } finally {
    bar.stop();
  }
  return done;
}
