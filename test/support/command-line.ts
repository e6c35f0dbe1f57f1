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

/** What differs from run to run, made the same. */
export function settled(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replaceAll(/(undo \/[\w/]+) [0-9a-f]{64}/g, '$1')
    .replaceAll(/ +/g, ' ');
}
