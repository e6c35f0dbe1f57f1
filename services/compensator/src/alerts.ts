import { judgeDelivery } from '@undolog/shared/domain/alerts';
import { openAlertQueue, type AlertJob } from '@undolog/shared/queue/alert-queue';
import type { QueueLocation } from '@undolog/shared/queue/backend';
import { monotonicMs, random, uuidv7 } from '@undolog/shared/runtime/clock';
import type { EgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { claimAlert, findDueAlerts, forgetDeliveries, settleAlert } from '@undolog/shared/store/alert-deliveries';
import type { Database } from '@undolog/shared/store/database';
import { writeAlerts } from '@undolog/shared/store/write-alerts';
import { createAlertSender } from '@undolog/shared/vendor/alert-sender';

export interface AlertsOptions {
  readonly database: Database;
  readonly queueLocation: QueueLocation;
  readonly egress: EgressPolicy;
  /** Aborted when the process can wait no longer. */
  readonly abandon: AbortSignal;
  onError(error: Error): void;
}

export interface Alerts {
  /** The sweep's duty: writes what is new, and wakes workers for what is due. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** Alerts have workers of their own, so that a receiver that is slow delays no undo. */
const CONCURRENCY = 10;
/** The lease outlasts the time that a POST may take. */
const CLAIM = { leaseMs: 20_000, perWebhook: 4 } as const;
const NEWS = { webhooks: 50, entries: 200 } as const;
const MAX_BATCHES = 20;
const DUE = 500;
const KEPT_DAYS = 30;
const FORGET_EVERY_MS = 60_000;

/**
 * Tells receivers what has become of sessions: the audit log → a delivery per webhook and entry → a job → a POST. Each
 * step can be lost and is made again by the next sweep; only the POST may come twice, under the same `webhook-id`.
 */
export function openAlerts({ database, queueLocation, egress, abandon, onError }: AlertsOptions): Alerts {
  const sender = createAlertSender(egress);
  let nextForgetMs = 0;

  async function deliver(job: AlertJob): Promise<void> {
    const claimed = await claimAlert(database, job, CLAIM);
    if (claimed.outcome === 'not_now') return;
    const { attempt, body, target } = claimed;
    const startedMs = monotonicMs();
    const answer = target && (await sender.send({ ...target, id: job.deliveryId, body }, abandon));
    // Whoever claims it next, when the lease is over, sends it again under the same id.
    if (abandon.aborted) return;
    const status = answer?.kind === 'answer' ? answer.status : undefined;
    await settleAlert(database, job, {
      attempt,
      status: status ?? null,
      error: answer === undefined ? 'encryption_key_missing' : answer.kind === 'answer' ? null : answer.error,
      durationMs: Math.round(monotonicMs() - startedMs),
      outcome: judgeDelivery(status, attempt, random()),
    });
  }

  const queue = openAlertQueue({ location: queueLocation, concurrency: CONCURRENCY, handle: deliver, onError });
  return {
    async sweep() {
      for (let batch = 0; batch < MAX_BATCHES; batch++) {
        if ((await writeAlerts(database, NEWS, uuidv7)) === 0) break;
      }
      await queue.wakeAll(await findDueAlerts(database, DUE));
      if (monotonicMs() < nextForgetMs) return;
      nextForgetMs = monotonicMs() + FORGET_EVERY_MS;
      await forgetDeliveries(database, KEPT_DAYS, DUE);
    },
    async close() {
      await queue.close();
      await sender.close();
    },
  };
}
