import { execFile } from 'node:child_process';
import type { Account } from './account.js';

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly account?: Account | undefined;
  readonly timeoutMs: number;
}

/** Runs a program without a shell. Answers its output; rejects with its last words when it fails or takes too long. */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { account, timeoutMs, ...rest } = options;
  const identity = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  return new Promise((resolve, reject) => {
    execFile(command, args, { ...rest, ...identity, timeout: timeoutMs }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const lastWords =
        stderr.trim().split('\n').at(-1) || (error.killed ? `no end after ${timeoutMs} ms` : error.message);
      reject(new Error(`${command}: ${lastWords}`, { cause: error }));
    });
  });
}
