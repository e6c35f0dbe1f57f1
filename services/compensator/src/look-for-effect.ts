import type { Compensation } from '@undolog/shared/domain/compensation';
import { afterLookup } from '@undolog/shared/domain/lookup';
import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import { nowMs, random } from '@undolog/shared/runtime/clock';
import type { Database } from '@undolog/shared/store/database';
import type { GroupCommit } from '@undolog/shared/store/group-commit';
import { readLookup, type PendingLookup } from '@undolog/shared/store/read-lookup';
import { settleLookup, type SettleLookup } from '@undolog/shared/store/settle-lookup';
import type { WakeUpPayload } from '@undolog/shared/wire/jobs';
import type { FindCompensation } from '@undolog/shared/vendor/compensation-cache';
import type { VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { FindCredentials } from '@undolog/shared/vendor/credentials';
import { lookUp, type LookedUp } from '@undolog/shared/vendor/lookup';
import { childTraceparent } from '@undolog/shared/runtime/trace-context';

export interface LookupResources {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly client: VendorClient;
  readonly findCompensation: FindCompensation;
  readonly findCredentials: FindCredentials;
  /** Aborted when the process can wait no longer for questions that are open. */
  readonly abandon: AbortSignal;
}

/** For the process that takes over. */
const HANDED_OVER_MS = 1;
const UNREADABLE_WAIT_MS = 10_000;

const GONE = { outcome: 'gone' } as const;

type Decision = SettleLookup['decision'];

/** One question to the vendor, and what follows from its answer; undefined when nobody waited for it. */
async function decide(
  { client, findCredentials, abandon }: LookupResources,
  orgId: string,
  lookup: PendingLookup,
  spec: Compensation,
): Promise<Decision | undefined> {
  const { sessionId, undoId, effectId, maxRetries, memory } = lookup;
  const call = {
    spec,
    body: lookup.args.text,
    undoId,
    sessionId,
    effectId,
    outcome: 'unknown',
    attempt: 1,
    traceparent: childTraceparent(lookup.traceparent),
  } as const;
  const credentials = await findCredentials(orgId, spec);
  const looked: LookedUp =
    'fault' in credentials
      ? { kind: 'failed', retryAfter: undefined }
      : await lookUp(client.carrying(credentials), call, abandon);
  switch (looked.kind) {
    case 'found':
      return looked;
    case 'abandoned':
      return undefined;
    case 'no_address':
      return { kind: 'lookup_failed' };
    case 'absent':
    case 'failed': {
      const { retry, lookup: declared } = spec;
      const time = { nowMs: nowMs(), random: random() };
      return afterLookup(looked, { memory, settleMs: declared!.settle_ms, maxRetries, retry, ...time });
    }
    default:
      return looked satisfies never;
  }
}

/**
 * Looks for an effect that its caller reported as unknown, while its session goes on:
 *
 * ```
 * found        → committed, its entry active
 * absent twice → failed, its entry skipped
 * no answer    → again later, within the budget of its retries; then left as it is
 * ```
 *
 * Should the session end meanwhile, nothing is written, and the unwind looks for itself.
 *
 * @throws {WakeAgain} when there is another look to take.
 */
export async function lookForEffect(
  resources: LookupResources,
  { org_id: orgId, undo_id: undoId }: WakeUpPayload,
): Promise<void> {
  const turn = undoId === null ? GONE : await readLookup(resources.database, orgId, undoId);
  if (turn.outcome === 'gone') return;
  if (turn.outcome === 'not_due') throw new WakeAgain(turn.waitMs);
  // Another process may have the key, or this one tomorrow.
  if (turn.outcome === 'unreadable') throw new WakeAgain(UNREADABLE_WAIT_MS);
  const { lookup } = turn;
  const spec = await resources.findCompensation(orgId, lookup.fnName, lookup.version);
  if ('fault' in spec) throw new WakeAgain(UNREADABLE_WAIT_MS);
  const decision = await decide(resources, orgId, lookup, spec);
  if (!decision) throw new WakeAgain(HANDED_OVER_MS);
  const { outcome } = await resources.commits.submit(settleLookup, orgId, { ...lookup, decision });
  if (outcome === 'settled' && decision.kind === 'look_again') throw new WakeAgain(decision.delayMs);
}
