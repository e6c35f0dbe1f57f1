import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './account.js';
import type { OwnedFolder } from './owned-folder.js';

const READY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 15_000;
const POLL_MS = 25;

export interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly account: Account | undefined;
  readonly folder: OwnedFolder;
  /** The signal that ends it at once and cleanly enough when its owner is gone. */
  readonly guardSignal: 'QUIT' | 'TERM';
  /** Given to the program's standard input, for what must not be seen in its arguments. */
  readonly input?: string;
}

/** A child that we started and therefore may end. Signals go through its handle, never to a bare number. */
export interface OwnedProcess {
  hasEnded(): boolean;
  /** Sends the signal and waits for the end; a child that does not end in time is killed. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** What it has written so far. */
  readLog(): Promise<string>;
}

/** Starts the program in its folder, in its own process group (a Ctrl-C meant for the owner must not reach it). */
export async function startProgram(start: ProgramStart): Promise<OwnedProcess> {
  const { folder, account } = start;
  const logPath = `${folder.path}/server.log`;
  const log = openSync(logPath, 'a', 0o600);
  const child = spawn(start.command, start.args, {
    cwd: folder.path,
    env: start.env,
    detached: true,
    stdio: ['pipe', log, log],
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  });
  closeSync(log);
  if (child.pid !== undefined) folder.watch(child.pid, start.guardSignal);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(start.input ?? '');
  let ended = false;
  const end = new Promise<void>((resolve) => {
    child.once('exit', () => {
      ended = true;
      folder.unwatch();
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
  return {
    hasEnded: () => ended,
    readLog: () => readFile(logPath, 'utf8'),
    async stop(signal) {
      if (ended) return;
      child.ref();
      child.kill(signal);
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await end;
      clearTimeout(late);
    },
  };
}

export type Readiness = 'ready' | 'ended' | 'too_late';

/** Asks `answers` until it resolves. Its refusals are expected while the server starts. */
export async function waitUntilReady(server: OwnedProcess, answers: () => Promise<unknown>): Promise<Readiness> {
  const limit = AbortSignal.timeout(READY_LIMIT_MS);
  while (!limit.aborted) {
    if (server.hasEnded()) return 'ended';
    try {
      await answers();
      return 'ready';
    } catch {
      await sleep(POLL_MS);
    }
  }
  return 'too_late';
}
