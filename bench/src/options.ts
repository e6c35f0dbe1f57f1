import { parseArgs, type ParseArgsConfig } from 'node:util';

export interface CommonOptions {
  readonly apis: number;
  /** At most one of both; neither: the bench's own vendor. */
  readonly vendor: { readonly url: string | undefined; readonly file: string | undefined };
  /** Folder for CPU profiles of the product's processes. */
  readonly profileInto: string | undefined;
}

export const USAGE = `npm run bench -- trip   [--sessions 1500] [--concurrency 64] [--compensators 2] [--events 1]
npm run bench -- unwind [--sessions 3000] [--depth 2] [--rows 0] [--compensators 2]
npm run bench -- intake [--registrations 20000] [--concurrency 64] [--rate 300] [--pgbench-clients 16]
each with [--apis 1] [--vendor FILE] [--profile FOLDER]; VENDOR=URL names a vendor that runs already`;

/** Reads `--name N` for each of the defaults. @throws with a message for people. */
export function readOptions<Name extends string>(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> & CommonOptions {
  const numbers: Record<string, number> = { apis: 1, ...defaults };
  const known: NonNullable<ParseArgsConfig['options']> = { vendor: { type: 'string' }, profile: { type: 'string' } };
  for (const name of Object.keys(numbers)) known[name] = { type: 'string' };
  const { values } = parseArgs({ args: [...args], options: known });
  for (const [name, standard] of Object.entries(numbers)) {
    const text = (values[name] as string | undefined) ?? String(standard);
    if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not ${text}`);
    numbers[name] = Number(text);
  }
  const file = values['vendor'] as string | undefined;
  return {
    ...(numbers as Record<Name | 'apis', number>),
    vendor: { url: file === undefined ? env['VENDOR'] || undefined : undefined, file },
    profileInto: values['profile'] as string | undefined,
  };
}
