import type { Tx } from '@undolog/shared/store/database';
import { claimKey, keepAnswer, type KeyScope } from '@undolog/shared/store/idempotency';
import { refuse, type Reply } from './reply.js';
import type { Resources } from './resources.js';
import type { Perform } from './route.js';

/** A request's own part of the work; it may run again when Postgres asks for it. */
export interface Work {
  readonly orgId: string;
  /** It commits by itself what it writes, and may be done again. */
  readonly apart: boolean;
  run(perform: Perform): Promise<Reply>;
  /** Judges a kept answer anew; undefined: it is given again as it was. */
  replay?(kept: { status: number; text: string }, tx: Tx): Promise<Reply | undefined>;
}

type Engines = Pick<Resources, 'database' | 'commits'>;

/**
 * Runs the writes of one request.
 *
 * Without an Idempotency-Key they join the group commit. With one, they run in a transaction of their own, which first
 * takes the key and last keeps the answer, so that the record commits with what it tells, or neither does. What throws
 * (and would be a 5xx) is rolled back and leaves no record.
 */
export async function executeOperation(engines: Engines, work: Work, scope?: KeyScope): Promise<Reply> {
  const { database, commits } = engines;
  if (!scope) return work.run((operation, input) => commits.submit(operation, work.orgId, input));
  if (!work.apart)
    return database.transaction(async (tx) => (await replyKept(tx, work, scope)) ?? runAndKeep(tx, work, scope));
  const kept = await database.transaction((tx) => replyKept(tx, work, scope));
  if (kept) return kept;
  const reply = await work.run((operation, input) => commits.submit(operation, work.orgId, input));
  await database.transaction((tx) => keepAnswer(tx, scope, reply));
  return reply;
}

/** What the key says already; undefined: it is new, and taken for the rest of the transaction. */
async function replyKept(tx: Tx, work: Work, scope: KeyScope): Promise<Reply | undefined> {
  const claim = await claimKey(tx, scope);
  switch (claim.kind) {
    case 'new':
      return undefined;
    case 'replay': {
      const kept: Reply = { status: claim.status, contentType: claim.contentType, text: claim.text };
      const reply = (await work.replay?.(kept, tx)) ?? kept;
      return { ...reply, headers: { ...reply.headers, 'idempotent-replayed': 'true' } };
    }
    case 'mismatch':
      return refuse('idempotency_key_reused');
    case 'in_progress':
      return refuse('idempotency_key_in_progress');
    case 'secret_already_shown':
      return refuse('secret_already_shown');
    default:
      return claim satisfies never;
  }
}

async function runAndKeep(tx: Tx, work: Work, scope: KeyScope): Promise<Reply> {
  const reply = await work.run((operation, input) => operation.run(tx, work.orgId, input));
  const text = reply.holdsSecret ? null : reply.text;
  await keepAnswer(tx, scope, { status: reply.status, contentType: reply.contentType, text });
  return reply;
}
