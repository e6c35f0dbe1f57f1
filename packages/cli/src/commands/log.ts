import type { Command } from 'commander';
import type { Work } from '../context.js';
import { cell, state } from '../output.js';
import { collect } from '../paging.js';
import { proveAudit } from './prove-audit.js';

type Run = (work: Work) => Promise<void>;

export function addLog(program: Command, run: Run): void {
  program
    .command('tail')
    .description('follow what happens in the org')
    .option('--after <id>', 'begin after this change')
    .action(({ after }: { after?: string }) =>
      run(async ({ client, output, signal }) => {
        for await (const change of client().stream({ signal, ...(after && { after }) })) {
          if (output.json) output.row(change);
          else output.line(change.at, change.session_id, change.event, change.undo_id ?? '', state(change.state));
        }
      }),
    );
  addAudit(program, run);
}

function addAudit(program: Command, run: Run): void {
  const audit = program.command('audit').description('who did what');
  audit
    .command('list')
    .description('list entries, newest first')
    .option('--session <session_id>', 'of this session')
    .option('--actor <key_id>', "a key's id, or undolog")
    .option('--action <action>', 'such as session.failed')
    .option('--limit <n>', 'at most so many', '50')
    .action(({ session, actor, action, limit }: { session?: string; actor?: string; action?: string; limit: string }) =>
      run(async ({ client, output }) => {
        const filter = { ...(session && { session_id: session }), ...(actor && { actor }), ...(action && { action }) };
        const found = await collect((page) => client().audit.list({ ...filter, ...page }), Number(limit));
        if (output.json) return output.data(found);
        output.table(
          ['at', 'who', 'did', 'session', 'before', 'after', 'why'],
          found.map((entry) => [
            entry.at,
            entry.actor_name ?? entry.actor,
            entry.action,
            entry.session_id,
            entry.before,
            entry.after,
            entry.reason_erased ? cell('erased', 'dim') : typeof entry.reason === 'string' ? entry.reason : null,
          ]),
        );
      }),
    );
  audit
    .command('verify')
    .description('prove that the log is what it was when it was sealed')
    .option('--head <number:hash>', 'a seal that you kept: it must still be part of the chain')
    .action(({ head }: { head?: string }) => run((context) => proveAudit(context, head)));
}
