import type { CompensationQueue } from '@undolog/shared/queue/compensation-queue';
import { monotonicMs, uuidv7 } from '@undolog/shared/runtime/clock';
import type { Metrics } from '@undolog/shared/runtime/metrics';
import type { Database } from '@undolog/shared/store/database';
import { takeDueLookups } from '@undolog/shared/store/due-lookups';
import { takeDueSessions } from '@undolog/shared/store/due-sessions';
import { findExpiredSessions } from '@undolog/shared/store/expired-sessions';
import { failSession } from '@undolog/shared/store/fail-session';
import type { GroupCommit } from '@undolog/shared/store/group-commit';
import { forgetOldAnswers } from '@undolog/shared/store/idempotency';
import type { Alerts } from './alerts.js';
import { keepSealed } from './audit-sealing.js';
import type { DeadLetterAnnouncer } from './dead-letter.js';
import { keepFor } from './retention.js';
import { warnInTime } from './undo-windows.js';

export interface SweeperResources {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly queue: Pick<CompensationQueue, 'wakeAll'>;
  readonly deadLetters: DeadLetterAnnouncer;
  readonly alerts: Pick<Alerts, 'sweep'>;
  readonly metrics: Pick<Metrics, 'sweepFailures' | 'sweepRescues' | 'sweptAt' | 'undoDeadlinesNear'>;
  readonly sweepMs: number;
  readonly retentionDays: number | undefined;
  readonly onError: (error: Error) => void;
}

/** One look takes at most this many sessions, so that a long backlog costs a sweep no more than a short one. */
const BATCH = 500;
const MAX_BATCHES = 20;
/** A session in good health is left alone for this long, whatever the interval of the sweep. */
const MIN_NEXT_LOOK_MS = 2000;

/** What is kept for a day need not be looked for at every turn of a quick sweep. */
const FORGET_EVERY_MS = 4000;
/** Nor need what is sealed and told, however often the sweep turns. */
const TELL_EVERY_MS = 1500;

/** The duty, but not more often than this. One that failed is tried again at the next turn. */
function notBefore(everyMs: number, duty: () => Promise<unknown>): () => Promise<void> {
  let nextMs = 0;
  return async () => {
    if (monotonicMs() < nextMs) return;
    await duty();
    nextMs = monotonicMs() + everyMs;
  };
}

export interface Sweeper {
  stop(): Promise<void>;
}

/**
 * Rebuilds what the queue may have lost and ends what nobody ended: at start, and then every `sweepMs`.
 *
 * Its duties are independent; one that fails is told of and tried again at the next turn. Any number of sweepers may
 * run: rows are taken with SKIP LOCKED, and whatever is done twice changes nothing.
 */
export function startSweeper(resources: SweeperResources): Sweeper {
  const { database, commits, queue, deadLetters, metrics, sweepMs } = resources;

  async function expireLeases(): Promise<void> {
    const expired = await findExpiredSessions(database, BATCH);
    const results = await Promise.all(
      expired.map(({ orgId, sessionId }) =>
        commits.submit(failSession, orgId, {
          sessionId,
          kind: 'lease_expired',
          reason: null,
          effectId: null,
          actor: 'undolog',
          deadLetterId: uuidv7(),
        }),
      ),
    );
    const accepted = results.flatMap((result) => (result.outcome === 'accepted' ? [result] : []));
    if (accepted.length > 0) metrics.sweepRescues.inc({ kind: 'lease_expired' }, accepted.length);
    await queue.wakeAll(accepted.flatMap(({ wake }) => (wake ? [wake] : [])));
  }

  async function wakeDue(): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const { looked, wakeUps } = await takeDueSessions(database, BATCH, Math.max(sweepMs, MIN_NEXT_LOOK_MS));
      // Who waits for a child may do so for long: looking there again is no rescue.
      const entries = wakeUps.filter(({ undoId }) => undoId !== null).length;
      if (entries > 0) metrics.sweepRescues.inc({ kind: 'wake_up' }, entries);
      await queue.wakeAll(wakeUps);
      if (looked < BATCH) return;
    }
  }

  async function wakeLookups(): Promise<void> {
    const wakeUps = await takeDueLookups(database, BATCH, MIN_NEXT_LOOK_MS);
    if (wakeUps.length > 0) metrics.sweepRescues.inc({ kind: 'wake_up' }, wakeUps.length);
    await queue.wakeAll(wakeUps);
  }

  async function announceDeadLetters(): Promise<void> {
    const announced = await deadLetters.announceMissing();
    if (announced > 0) metrics.sweepRescues.inc({ kind: 'dead_letter' }, announced);
  }

  const duties = [expireLeases, wakeDue, wakeLookups, announceDeadLetters];
  duties.push(notBefore(FORGET_EVERY_MS, () => forgetOldAnswers(database)));
  duties.push(warnInTime(database, metrics));
  duties.push(
    notBefore(TELL_EVERY_MS, keepSealed(database)),
    notBefore(TELL_EVERY_MS, () => resources.alerts.sweep()),
  );
  if (resources.retentionDays !== undefined) duties.push(keepFor(database, resources.retentionDays));

  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const failed = (error: Error): void => {
    metrics.sweepFailures.inc();
    resources.onError(error);
  };
  async function sweep(): Promise<void> {
    for (const duty of duties) if (!stopped) await duty().catch(failed);
    metrics.sweptAt.setToCurrentTime();
    if (stopped) return;
    timer = setTimeout(() => {
      turn = sweep();
    }, sweepMs);
  }
  let turn = sweep();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
}
