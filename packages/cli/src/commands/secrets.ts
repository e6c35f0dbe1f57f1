import type { Command } from 'commander';
import type { Work } from '../context.js';
import { CommandFailed, EXIT } from '../exit-codes.js';

type Run = (work: Work) => Promise<void>;

export function addSecrets(program: Command, run: Run): void {
  const secrets = program
    .command('secrets')
    .description('values that compensations send in headers; needs the role admin');
  secrets
    .command('list')
    .description('list their names, and when each was set')
    .action(() =>
      run(async ({ client, output }) => {
        const found = await client().secrets.list();
        if (output.json) return output.data(found);
        output.table(
          ['secret', 'set'],
          found.map(({ name, updated_at: at }) => [name, at]),
        );
      }),
    );
  secrets
    .command('put <name>')
    .description('set a value, which is never shown; it is asked for, so that no history keeps it')
    .option('--from-env <variable>', 'take the value of this variable')
    .action((name: string, { fromEnv }: { fromEnv?: string }) =>
      run(async ({ ask, client, env, output }) => {
        const api = client();
        const value = fromEnv === undefined ? await ask?.(`value of ${name}: `, true) : env[fromEnv];
        if (!value) throw new CommandFailed('no value: be asked for it, or name a variable by --from-env', EXIT.usage);
        await api.secrets.put(name, value);
        if (output.json) output.data({ name });
        else output.line(name, 'is set');
      }),
    );
}
