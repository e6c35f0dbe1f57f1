import { spawn } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canReach, type Account } from './account.js';

/**
 * A temporary folder that vanishes with its owner, together with the server that runs in it.
 *
 * Lifecycle: made → (server watched → server gone)* → removed. A guard, a small shell outside of our process group, reads
 * a pipe that only we hold. However we end (exit, Ctrl-C, an exception, SIGKILL), the system closes that pipe, and the
 * guard stops the server it was last told of and removes the folder. So no signal handler is needed here, and none gets
 * in the way of the owner's own.
 */
export interface OwnedFolder {
  readonly path: string;
  /** Tells the guard which child runs in the folder and the signal that ends it at once. */
  watch(pid: number, signal: 'QUIT' | 'TERM'): void;
  /** The child has ended; its pid may soon be another's. */
  unwatch(): void;
  /** Removes the folder and ends the guard. The caller has stopped the server. */
  remove(): Promise<void>;
}

/** A server that has ended may stay a zombie until the system's first process gets round to it. */
const GUARD = `
alive() { kill -0 "$pid" && ! grep -q '^State:.Z' "/proc/$pid/status"; }
pid= signal=TERM
while read -r word first second; do
  case $word in
    watch) pid=$first signal=$second ;;
    unwatch) pid= ;;
    removed) exit 0 ;;
  esac
done
if [ -n "$pid" ] && kill -s "$signal" "$pid"; then
  tries=0
  while [ $tries -lt 50 ] && alive; do sleep 0.1; tries=$((tries + 1)); done
  ! alive || kill -s KILL "$pid"
fi
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`;

async function placeFor(account: Account | undefined): Promise<string> {
  for (const place of [tmpdir(), '/tmp', '/var/tmp']) if (await canReach(place, account)) return place;
  throw new Error(`no temporary folder that ${account?.name ?? 'this user'} can enter`);
}

/** Makes the folder, readable by its account alone. `purpose` becomes part of its name. */
export async function ownFolder(purpose: string, account?: Account): Promise<OwnedFolder> {
  const path = await mkdtemp(join(await placeFor(account), `undolog-${purpose}-`));
  if (account !== undefined) await chown(path, account.uid, account.gid);
  const guard = spawn('/bin/sh', ['-c', GUARD, 'undolog-guard', path], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
  });
  await new Promise<void>((resolve, reject) => {
    guard.once('spawn', resolve);
    guard.once('error', reject);
  });
  // Neither the guard nor its pipe may keep a finished owner alive, and a guard that was killed must not fail the owner.
  guard.unref();
  guard.stdin.on('error', () => undefined);
  (guard.stdin as Partial<Pick<Socket, 'unref'>>).unref?.();
  return {
    path,
    watch: (pid, signal) => void guard.stdin.write(`watch ${pid} ${signal}\n`),
    unwatch: () => void guard.stdin.write('unwatch\n'),
    async remove() {
      // Children of a killed Postgres may still write their last while we remove.
      await rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      guard.stdin.end('removed\n');
    },
  };
}
