import { runCommandLine, type Terminal } from '@undolog/cli/program';

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line as its program does, with a terminal that only remembers. */
export async function runUndolog(
  words: readonly string[],
  env: Terminal['env'],
  more: Partial<Pick<Terminal, 'ask' | 'signal' | 'color'>> = {},
): Promise<Ran> {
  const [stdout, stderr]: string[][] = [[], []];
  const exitCode = await runCommandLine(words, {
    stdout: { write: (text) => stdout!.push(text) },
    stderr: { write: (text) => stderr!.push(text) },
    env,
    color: false,
    ask: undefined,
    signal: new AbortController().signal,
    ...more,
  });
  return { exitCode, stdout: stdout!.join(''), stderr: stderr!.join('') };
}
