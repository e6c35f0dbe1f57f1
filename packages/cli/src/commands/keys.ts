import type { Command } from 'commander';
import type { Role } from '@undolog/client';
import type { Work } from '../context.js';

type Run = (work: Work) => Promise<void>;

export function addKeys(program: Command, run: Run): void {
  const keys = program.command('keys').description('API keys of the org; needs the role admin');
  keys
    .command('list')
    .description('list keys, newest first')
    .action(() =>
      run(async ({ client, output }) => {
        const found = await client().keys.list();
        if (output.json) return output.data(found);
        output.table(
          ['key', 'role', 'name', 'made'],
          found.map((key) => [key.key_id, key.role, key.name, key.created_at]),
        );
      }),
    );
  keys
    .command('create <role>')
    .description('make a key of role agent, operator or admin; its secret is shown once')
    .option('--name <text>', 'what people call it')
    .action((role: Role, { name }: { name?: string }) =>
      run(async ({ client, output }) => {
        const made = await client().keys.create({ role, ...(name && { name }) });
        if (output.json) return output.data(made);
        output.line(made.api_key);
        output.note(`key ${made.key_id} of role ${made.role}; it is not shown again`);
      }),
    );
  keys
    .command('revoke <key_id>')
    .description('end a key; its next use is refused')
    .action((id: string) =>
      run(async ({ client, output }) => {
        await client().keys.revoke(id);
        if (output.json) output.data({ key_id: id, revoked: true });
        else output.line(id, 'is revoked');
      }),
    );
}
