import type { Command } from 'commander';
import type { DeadLetter, Session, SessionQuery, UndoEntry, UndoLog } from '@undolog/client';
import type { Context, Work } from '../context.js';
import { CommandFailed, EXIT, type ExitCode } from '../exit-codes.js';
import { explain } from '@undolog/client/explain';
import { cell, state, type Output } from '../output.js';
import { collect } from '../paging.js';

type Run = (work: Work) => Promise<void>;

const DEFAULT_ROWS = '50';

export function addSessions(program: Command, run: Run): void {
  const sessions = program.command('sessions').description('agent runs');
  sessions
    .command('list')
    .description('list sessions, newest first')
    .option('--state <states>', 'only those in this state, or in one of several: halted,compensating')
    .option('--id <beginning>', 'only those whose id begins so')
    .option('--run <id>', 'only those of this run')
    .option('--agent <name>', 'only those of this agent')
    .option('--after <time>', 'only those opened after it, such as 2026-12-01T03:00:00Z')
    .option('--before <time>', 'only those opened before it')
    .option('--limit <n>', 'at most so many', DEFAULT_ROWS)
    .action((options: ListOptions) =>
      run(async ({ client, output }) => {
        const query = filterOf(options);
        const found = await collect((page) => client().sessions.list({ ...query, ...page }), Number(options.limit));
        if (output.json) return output.data(found);
        output.table(
          ['session', 'state', 'agent', 'undone', 'broken', 'waiting', 'opened'],
          found.map((session) => [
            session.session_id,
            state(session.state),
            session.agent_name,
            session.undo_counts.compensated,
            session.undo_counts.failed + session.undo_counts.unconfirmed,
            waiting(session),
            session.created_at,
          ]),
        );
      }),
    );
  sessions
    .command('show <session_id>')
    .description('what stands, what broke, each attempt, and what can be done')
    .action((id: string) => run((context) => showSession(context, id)));
  sessions
    .command('watch <session_id>')
    .description('follow a session to its end; exits with 7 when it halts')
    .action((id: string) => run((context) => watchSession(context, id)));
  addActions(sessions, run);
}

function addActions(sessions: Command, run: Run): void {
  sessions
    .command('fail <session_id>')
    .description('end a session without success and undo its effects')
    .requiredOption('--reason <text>', 'why')
    .option('--plan', 'only say what would be undone')
    .action((id: string, { reason, plan }: { reason: string; plan?: boolean }) =>
      run(async ({ client, output }) => {
        if (plan) {
          const { steps, cannot_undo: cannot, unknown, digest } = await client().sessions.plan(id);
          if (output.json) return output.data({ steps, cannot_undo: cannot, unknown, digest });
          const rows = steps.map((step) => [step.stack_position, step.action, step.fn_name, step.version, step.reason]);
          return output.table(['position', 'action', 'compensation', 'version', 'why'], rows);
        }
        const answer = await client().sessions.fail(id, { reason });
        if (output.json) return output.data(answer);
        output.line(answer.session_id, 'is', state(answer.state));
      }),
    );
  sessions
    .command('erase <session_id>')
    .description('erase what was said in a session that has ended; what happened stays; needs the role admin')
    .option('--yes', 'do not ask')
    .action((id: string, { yes }: { yes?: boolean }) =>
      run(async ({ client, output, ask }) => {
        if (!yes && (await ask?.(`erase the data of ${id} for good? (yes/no) `))?.trim() !== 'yes') {
          throw new CommandFailed(ask ? 'nothing was erased' : 'say --yes to erase', EXIT.usage);
        }
        const erased = await client().eraseSessionData(id);
        if (output.json) output.data(erased);
        else output.line(id, 'holds no data since', erased.data_erased_at);
      }),
    );
}

interface ListOptions {
  readonly state?: string;
  readonly id?: string;
  readonly run?: string;
  readonly agent?: string;
  readonly after?: string;
  readonly before?: string;
  readonly limit: string;
}

function filterOf({ state: states, id, run, agent, after, before }: ListOptions): SessionQuery {
  return {
    ...(states && { state: states }),
    ...(id && { session_id: id }),
    ...(run && { external_run_id: run }),
    ...(agent && { agent_name: agent }),
    ...(after && { created_after: after }),
    ...(before && { created_before: before }),
  };
}

/** Of a completed session none waits: what it did is kept. */
function waiting({ state: now, undo_counts: { pending, active, running } }: Session): number {
  return now === 'completed' ? 0 : pending + active + running;
}

async function openLetterOf(client: UndoLog, id: string): Promise<DeadLetter | undefined> {
  return (await client.deadLetters.list({ session_id: id, state: 'open', limit: 1 })).data[0];
}

async function showSession({ client, output }: Context, id: string): Promise<ExitCode | void> {
  const api = client();
  const [session, stack] = await Promise.all([api.sessions.get(id), api.sessions.stack(id)]);
  const letter = session.state === 'halted' ? await openLetterOf(api, id) : undefined;
  if (output.json) return output.data({ session, stack, dead_letter: letter ?? null });
  describeSession(output, session);
  describeStack(output, stack);
  if (letter) describeLetter(output, letter);
}

function describeSession(output: Output, session: Session): void {
  output.line(cell(session.session_id, 'strong'), state(session.state), session.agent_name ?? '');
  if (session.failure) {
    const reason = typeof session.failure.reason === 'string' ? session.failure.reason : '';
    output.line('failed', session.failure.at, session.failure.kind, reason);
  }
  if (session.retry_at !== null) output.line('waits until', session.retry_at);
  if (session.effects_standing.length > 0) {
    output.line();
    output.line(cell('still standing', 'bad'));
    output.table(
      ['position', 'tool', 'reported', 'why'],
      session.effects_standing.map((one) => [one.stack_position, one.tool_name, one.outcome, one.reason]),
    );
  }
}

function describeStack(output: Output, stack: readonly UndoEntry[]): void {
  output.line();
  output.line(cell('undo stack, the last call first', 'strong'));
  output.table(
    ['position', 'tool', 'undo', 'compensation', 'proof or code', 'attempts'],
    stack.map((entry) => [
      entry.stack_position,
      entry.effect.tool_name,
      entry.superseded_by === null ? state(entry.state) : cell(`${entry.state}, superseded`, 'dim'),
      entry.fn_name === null ? null : `${entry.fn_name}@${entry.version}`,
      entry.proof ?? entry.code ?? entry.reason,
      entry.attempts
        .map(({ status, outcome, error }) => `${status ?? error ?? '…'} ${outcome ?? ''}`.trim())
        .join(', '),
    ]),
  );
}

function describeLetter(output: Output, letter: DeadLetter): void {
  const { dead_letter_id: id, code, stack_position: position } = letter;
  output.line();
  output.line(cell('halted', 'bad'), letter.halted_at, 'at position', position, code ?? '');
  output.line(explain(code));
  output.line();
  output.line('what you can do:');
  const ways = [
    ['confirm', 'only ask the vendor'],
    ['retry', 'call again, under the same key, with a fresh budget'],
    ["retry --args '{…}'", 'call with other arguments; only if no call can have taken effect'],
    ['skip --reason …', 'leave it standing, and undo the rest'],
    ['resolve --reason …', 'you have seen to all of it by hand'],
  ];
  output.table(
    ['command', ''],
    ways.map(([way, what]) => [`undolog dlq ${way!.replace(/^\w+/, `$& ${id}`)}`, what]),
  );
}

const ENDS: readonly Session['state'][] = ['completed', 'compensated', 'resolved', 'halted'];

async function watchSession({ client, output, signal }: Context, id: string): Promise<ExitCode | void> {
  const api = client();
  const stop = AbortSignal.any([signal]);
  const show = ({ state: now, retry_at: at }: Session): void =>
    output.json ? output.row({ session_id: id, state: now, retry_at: at }) : output.line(id, state(now), at ?? '');
  let session = await api.sessions.get(id);
  show(session);
  if (!ENDS.includes(session.state)) {
    for await (const change of api.stream({ signal: stop })) {
      if (change.session_id !== id) continue;
      if (output.json) output.row(change);
      else output.line(change.at, change.event, change.undo_id ?? '', state(change.state));
      if (change.event !== 'session') continue;
      session = await api.sessions.get(id);
      if (ENDS.includes(session.state)) break;
    }
  }
  return session.state === 'halted' ? EXIT.halted : EXIT.ok;
}
