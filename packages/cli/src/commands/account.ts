import type { Command } from 'commander';
import type { Work } from '../context.js';
import { CommandFailed, EXIT } from '../exit-codes.js';
import { clientFor, keepSettings, readSettings } from '../settings.js';
import { examine } from './examine.js';

type Run = (work: Work) => Promise<void>;

export function addAccount(program: Command, run: Run): void {
  program
    .command('login')
    .description('keep an address and a key for the next commands')
    .option('--url <url>', 'where the API listens')
    .action(({ url: given }: { url?: string }) =>
      run(async ({ ask, env, output }) => {
        if (!ask)
          throw new CommandFailed('login asks questions; set UNDOLOG_URL and UNDOLOG_API_KEY instead', EXIT.usage);
        const url = given ?? (await ask('address of the API: '));
        const apiKey = await ask('API key: ', true);
        const { role } = await clientFor({ url, apiKey }).whoami();
        const path = keepSettings(env, { url, apiKey });
        output.note(`signed in at ${url} with a key of role ${role}; kept in ${path}`);
      }),
    );
  program
    .command('whoami')
    .description('which API, and what the key may do')
    .action(() =>
      run(async ({ client, env, output }) => {
        const { url } = readSettings(env);
        const caller = await client().whoami();
        if (output.json) return output.data({ url, ...caller });
        output.line(url, 'as', caller.role, caller.name ?? caller.key_id);
      }),
    );
  program
    .command('doctor')
    .description('is everything well?')
    .action(() => run(examine));
}
