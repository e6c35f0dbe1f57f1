import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An account of this machine that a program can be started under by spawn's `uid` and `gid`. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Postgres looks its account up by number, so it has to be one that the system knows; `nobody` is known everywhere. */
const CHOICES = ['postgres', 'nobody'];

/**
 * Postgres refuses to run as root. Answers the account to run it under, or undefined where we are not root and it runs
 * under our own. No account is ever created: that would outlive us.
 */
export async function accountForPostgres(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const choice of CHOICES) {
    const line = lines.find(([name]) => name === choice);
    const account = { name: choice, uid: Number(line?.[2]), gid: Number(line?.[3]) };
    if (account.uid > 0 && account.gid >= 0) return account;
  }
  throw new Error(`root can't run Postgres, and this machine has none of the accounts ${CHOICES.join(', ')}`);
}

async function canPass(path: string, account: Account): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  if (gid === account.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
}

/** Whether the account can enter (or run) the path and enter every folder above it; undefined stands for ourselves. */
export async function canReach(path: string, account: Account | undefined): Promise<boolean> {
  try {
    if (account === undefined) {
      await access(path, constants.X_OK);
      return true;
    }
    for (let part = path; ; part = dirname(part)) {
      if (!(await canPass(part, account))) return false;
      if (part === dirname(part)) return true;
    }
  } catch {
    return false;
  }
}
