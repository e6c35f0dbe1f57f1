import { parseExactly } from './exact-json.js';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { UndoLog } from '@undolog/client';
import { CommandFailed, EXIT } from './exit-codes.js';

export interface Settings {
  readonly url: string;
  readonly apiKey: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

function fileOf(env: Environment): string {
  const folder = env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config');
  return join(folder, 'undolog', 'config.json');
}

function readFile(path: string): Partial<Settings> {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Partial<Settings>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CommandFailed(`${path} can't be read: ${(error as Error).message}`);
  }
}

/** Where to and with which key: from the environment, else from `undolog login`. */
export function readSettings(env: Environment): Settings {
  const file = readFile(fileOf(env));
  const url = env['UNDOLOG_URL'] ?? file.url;
  const apiKey = env['UNDOLOG_API_KEY'] ?? file.apiKey;
  if (url && apiKey) return { url, apiKey };
  const missing = url ? 'UNDOLOG_API_KEY' : 'UNDOLOG_URL';
  throw new CommandFailed(`not signed in: run \`undolog login\`, or set ${missing}`, EXIT.auth);
}

/** Only the user who signed in may read it. @returns where it is kept. */
export function keepSettings(env: Environment, settings: Settings): string {
  const path = fileOf(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  chmodSync(path, 0o600);
  return path;
}

export function clientFor({ url, apiKey }: Settings): UndoLog {
  return new UndoLog({ parse: parseExactly, baseUrl: url, apiKey, maxRetries: 3 });
}
