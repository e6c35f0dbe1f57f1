#!/usr/bin/env node
import { isCancel, password, text } from '@clack/prompts';
import pc from 'picocolors';
import { runCommandLine } from './program.js';

const stop = new AbortController();
process.once('SIGINT', () => {
  stop.abort();
  process.exitCode = 130;
});
// Whoever reads us may have enough, as `head` does.
process.stdout.on('error', () => process.exit());

async function ask(question: string, secret = false): Promise<string> {
  const answer = await (secret ? password({ message: question }) : text({ message: question }));
  if (isCancel(answer)) process.exit(130);
  return answer;
}

const exitCode = await runCommandLine(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  color: pc.isColorSupported,
  signal: stop.signal,
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
});
// What is still open, a stream or an idle connection, is of no use any more.
process.exit(stop.signal.aborted ? 130 : exitCode);
