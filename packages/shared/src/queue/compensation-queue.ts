import { Redis } from 'ioredis';
import type { DeadLetterNotice } from '../domain/dead-letter-notice.js';
import type { Reach } from '../domain/failpoints.js';
import type { QueueKind } from '../domain/queue-kind.js';
import type { WakeUp } from '../domain/wake-up.js';
import { openQueueBackend, type QueueLocation } from './backend.js';
import { toPayload, wakeUpOptions } from './job.js';
import { COMPENSATION_QUEUE, DEAD_LETTER_QUEUE } from './names.js';
import { openQueue } from './open-queue.js';

export interface CompensationQueue {
  readonly kind: QueueKind;
  /** Adds the job soon, together with others; never throws and never waits. A lost one is found by the sweep. */
  wake(wakeUp: WakeUp): void;
  /** Adds the jobs now. @throws when the queue is away. */
  wakeAll(wakeUps: readonly WakeUp[]): Promise<void>;
  announce(notices: readonly DeadLetterNotice[]): Promise<void>;
  /** How many announcements the dead-letter queue holds, taken by somebody or not. */
  countAnnounced(): Promise<number>;
  ping(): Promise<boolean>;
  /** What makes this Redis unfit, or undefined. One that may evict keys loses locks and jobs. */
  findFault(): Promise<'unreachable' | 'evicting_policy' | undefined>;
  close(): Promise<void>;
}

const PING_TIMEOUT_MS = 1000;

async function pinged(answer: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PING_TIMEOUT_MS, false).unref());
  return Promise.race([
    answer.then(
      () => true,
      () => false,
    ),
    late,
  ]);
}

/** The producer's side of both queues; one connection per process, however many jobs. */
export function openCompensationQueue(
  location: QueueLocation,
  onError: (error: Error) => void,
  reach: Reach,
): CompensationQueue {
  const backend = openQueueBackend(location, 'producer', onError);
  const queue = openQueue(COMPENSATION_QUEUE, backend, location.prefix);
  const deadLetters = openQueue(DEAD_LETTER_QUEUE, backend, location.prefix);
  for (const one of [queue, deadLetters]) one.on('error', onError);

  let waiting: WakeUp[] = [];
  const adding = new Set<Promise<void>>();

  async function wakeAll(wakeUps: readonly WakeUp[]): Promise<void> {
    if (wakeUps.length === 0) return;
    reach('before_enqueue');
    await queue.addBulk(
      wakeUps.map((wakeUp) => ({ name: wakeUp.task ?? 'undo', data: toPayload(wakeUp), opts: wakeUpOptions(wakeUp) })),
    );
    reach('after_enqueue');
  }

  function flush(): void {
    const batch = waiting;
    waiting = [];
    const added = wakeAll(batch)
      .catch(onError)
      .finally(() => adding.delete(added));
    adding.add(added);
  }

  return {
    kind: backend.kind,
    wake(wakeUp) {
      if (waiting.push(wakeUp) === 1) setImmediate(flush);
    },
    wakeAll,
    async announce(notices) {
      await deadLetters.addBulk(
        notices.map(({ orgId, sessionId, deadLetterId }) => ({
          name: 'halted',
          data: { org_id: orgId, session_id: sessionId, dead_letter_id: deadLetterId },
          opts: { jobId: deadLetterId },
        })),
      );
    },
    countAnnounced: () => deadLetters.getJobCountByTypes('wait', 'active', 'delayed', 'completed', 'failed'),
    ping: () => pinged(backend.connection instanceof Redis ? backend.connection.ping() : queue.getJobCounts('waiting')),
    async findFault() {
      if (!(backend.connection instanceof Redis)) return undefined;
      if (!(await pinged(backend.connection.ping()))) return 'unreachable';
      // Managed Redis may refuse CONFIG; then the policy is its operator's to know.
      const answer = await backend.connection.config('GET', 'maxmemory-policy').catch(() => []);
      const policy = (answer as string[])[1];
      return policy === undefined || policy === 'noeviction' ? undefined : 'evicting_policy';
    },
    async close() {
      if (waiting.length > 0) flush();
      await Promise.all(adding);
      await Promise.all([queue.close(), deadLetters.close()]);
      backend.close();
    },
  };
}
