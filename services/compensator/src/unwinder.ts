import { setTimeout as sleep } from 'node:timers/promises';
import { hostOf } from '@undolog/shared/domain/compensation';
import { settleUnreadable, type UnreadableCode } from '@undolog/shared/domain/settlement';
import type { Settlement } from '@undolog/shared/domain/verdict';
import type { CompensationQueue } from '@undolog/shared/queue/compensation-queue';
import { WakeAgain } from '@undolog/shared/queue/compensation-worker';
import type { WokenFor } from '@undolog/shared/queue/job';
import { monotonicMs, uuidv7 } from '@undolog/shared/runtime/clock';
import type { Logger } from '@undolog/shared/runtime/logger';
import type { Metrics } from '@undolog/shared/runtime/metrics';
import type { Tracing } from '@undolog/shared/runtime/tracing';
import { claimEntry, type ClaimedEntry } from '@undolog/shared/store/claim-entries';
import { DatabaseUnavailable } from '@undolog/shared/store/database';
import { followFamily } from '@undolog/shared/store/follow-family';
import type { GroupCommit } from '@undolog/shared/store/group-commit';
import type { Ended } from '@undolog/shared/store/advance-unwind';
import { settleEntry, type SettleResult } from '@undolog/shared/store/settle-entries';
import type { Operation } from '@undolog/shared/store/operation';
import { openAttempt } from '@undolog/shared/store/open-attempt';
import { recordDone } from '@undolog/shared/store/record-done';
import type { FindCompensation } from '@undolog/shared/vendor/compensation-cache';
import type { VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { FindCredentials } from '@undolog/shared/vendor/credentials';
import type { DeadLetterAnnouncer } from './dead-letter.js';
import { CLAIM_LEASE_MS, type HeldClaim, type HeldClaims } from './held-claims.js';
import type { HostBreakers } from './host-breakers.js';
import { tryEntry, type TryContext } from './try-entry.js';
import { unwindSpans, type UnwindSpans } from './unwind-spans.js';

export interface UnwinderResources {
  readonly commits: GroupCommit;
  readonly claims: HeldClaims;
  readonly queue: Pick<CompensationQueue, 'wake'>;
  readonly client: VendorClient;
  readonly breakers: Pick<HostBreakers, 'guard'>;
  readonly findCompensation: FindCompensation;
  readonly findCredentials: FindCredentials;
  readonly deadLetters: DeadLetterAnnouncer;
  readonly metrics: Pick<Metrics, 'undoOutcomes' | 'unwindSeconds'>;
  readonly logger: Logger;
  readonly tracing: Tracing | undefined;
  /** Aborted when the process can wait no longer for calls that are open. */
  readonly abandon: AbortSignal;
}

/** What Postgres did not answer is written again this often. */
const WRITE_TRIES = 8;
const WRITE_WAIT_MS = 500;

type ClaimedIds = Pick<ClaimedEntry, 'sessionId' | 'undoId' | 'fence'>;

/**
 * The heart: one job, one entry, or one look at a session for the sake of its family.
 *
 * ```
 * woken ─claim▶ gone or paused | held or not due: wake again | claimed
 * claimed ─one step: look-up, call, look at the record─▶ settle ─▶ wake again | next entry woken | session ended
 * ```
 *
 * Postgres decides each step; a job that is lost, doubled, late or made by hand changes nothing.
 */
export class Unwinder {
  readonly #resources: UnwinderResources;

  constructor(resources: UnwinderResources) {
    this.#resources = resources;
  }

  /**
   * @param seen called with the host of the undo once the entry is claimed.
   * @throws {WakeAgain} when the entry's time has not come.
   */
  async handle(job: WokenFor, seen: (host: string) => void): Promise<void> {
    const { org_id: orgId, session_id: sessionId, undo_id: undoId } = job;
    const { claims, commits, tracing } = this.#resources;
    const spans = unwindSpans(tracing, job);
    if (undoId === null) return this.#follow(orgId, sessionId, spans);
    const askedAtMs = monotonicMs();
    const result = await commits.submit(claimEntry, orgId, { sessionId, undoId, leaseMs: CLAIM_LEASE_MS });
    switch (result.outcome) {
      case 'gone':
      case 'paused':
        return;
      case 'held':
      case 'not_due':
        throw new WakeAgain(result.waitMs);
      case 'claimed': {
        const claim = { orgId, sessionId, undoId, fence: result.entry.fence, renewedAtMs: askedAtMs };
        claims.hold(claim);
        try {
          return await this.#tryAndSettle(orgId, result.entry, claim, spans, seen);
        } finally {
          claims.release(claim);
        }
      }
      case 'unreadable':
        return this.#settleUnread(orgId, { sessionId, undoId, fence: result.fence }, result.fault, spans);
      default:
        result satisfies never;
    }
  }

  /** A parent and its children wait for each other, not for an entry. */
  async #follow(orgId: string, sessionId: string, spans: UnwindSpans): Promise<void> {
    const { commits, queue } = this.#resources;
    const { wake, ended } = await commits.submit(followFamily, orgId, { sessionId, deadLetterId: uuidv7() });
    if (wake) queue.wake(spans.carry(wake));
    if (ended) this.#concludeSession(orgId, sessionId, ended, spans);
  }

  async #tryAndSettle(
    orgId: string,
    entry: ClaimedEntry,
    claim: HeldClaim,
    spans: UnwindSpans,
    seen: (host: string) => void,
  ): Promise<void> {
    const { abandon, breakers, claims, client, findCompensation, findCredentials, logger } = this.#resources;
    const spec = await findCompensation(orgId, entry.fnName, entry.version);
    if ('fault' in spec) return this.#settleUnread(orgId, entry, spec.fault, spans);
    seen(hostOf(spec));
    const credentials = await findCredentials(orgId, spec);
    if ('fault' in credentials) return this.#settleUnread(orgId, entry, credentials.fault, spans);
    const { sessionId, undoId, fence } = entry;
    const held = { sessionId, undoId, fence };
    const span = spans.beginTry(entry);
    const context: Omit<TryContext, 'client'> = {
      traceparent: span.traceparent,
      stillHeld: () => claims.stillHeld(claim),
      openAttempt: async (found) => {
        const input = { ...held, effectId: entry.effectId, leaseMs: CLAIM_LEASE_MS, found };
        return (await this.#resources.commits.submit(openAttempt, orgId, input)) === 'opened';
      },
      recordDone: async ({ status, durationMs }, budgetMs, location) => {
        const input = { ...held, status, durationMs, budgetMs, location };
        return (await this.#persist(recordDone, orgId, input)) === 'recorded';
      },
      signal: abandon,
    };
    const guarded = { orgId, spec, entry, client: client.carrying(credentials) };
    const tried = await span.around(() =>
      breakers.guard(guarded, (watched) => tryEntry(entry, spec, { ...context, client: watched })),
    );
    if (!tried) return logger.warn({ org_id: orgId, undo_id: undoId }, 'claim lost; another worker has the entry');
    const result = await this.#persist(settleEntry, orgId, { ...held, deadLetterId: uuidv7(), ...tried });
    this.#conclude(orgId, entry, tried.settlement, result, spans);
  }

  /** What is to be sent, or what it is to be sent with, can't be read here: nothing is called. */
  async #settleUnread(orgId: string, entry: ClaimedIds, fault: UnreadableCode, spans: UnwindSpans): Promise<void> {
    const { sessionId, undoId, fence } = entry;
    this.#resources.logger.error({ org_id: orgId, undo_id: undoId, code: fault }, 'the entry can not be called');
    const settlement = settleUnreadable(fault);
    const input = { sessionId, undoId, fence, deadLetterId: uuidv7(), attempt: null, settlement };
    this.#conclude(orgId, entry, settlement, await this.#persist(settleEntry, orgId, input), spans);
  }

  /** What the vendor said is written down if it can be; the fence makes repeats harmless. */
  async #persist<I, R>(operation: Operation<I, R>, orgId: string, input: I): Promise<R> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#resources.commits.submit(operation, orgId, input);
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || tries === WRITE_TRIES) throw error;
        await sleep(WRITE_WAIT_MS);
      }
    }
  }

  #conclude(orgId: string, entry: ClaimedIds, settlement: Settlement, result: SettleResult, spans: UnwindSpans): void {
    const { logger, metrics, queue } = this.#resources;
    switch (result.outcome) {
      case 'lost_fence':
        return logger.warn(
          { org_id: orgId, undo_id: entry.undoId },
          'settlement dropped: written before, or the claim was taken over',
        );
      case 'retry':
        throw new WakeAgain(result.waitMs);
      case 'settled':
        if (settlement.kind === 'settled') metrics.undoOutcomes.inc({ state: settlement.state });
        if (result.wake) queue.wake(spans.carry(result.wake));
        if (result.ended) this.#concludeSession(orgId, entry.sessionId, result.ended, spans);
        return;
      default:
        result satisfies never;
    }
  }

  #concludeSession(orgId: string, sessionId: string, ended: Ended, spans: UnwindSpans): void {
    spans.end(ended);
    const { deadLetters, logger, metrics } = this.#resources;
    if (ended.unwind_seconds !== null) metrics.unwindSeconds.observe(ended.unwind_seconds);
    const { state, dead_letter_id: deadLetterId } = ended;
    const session = { org_id: orgId, session_id: sessionId };
    if (deadLetterId === null) return logger.info({ ...session, state }, 'unwind ended');
    logger.error({ ...session, dead_letter_id: deadLetterId }, 'unwind halted: a person must look');
    deadLetters.announce({ orgId, sessionId, deadLetterId });
  }
}
