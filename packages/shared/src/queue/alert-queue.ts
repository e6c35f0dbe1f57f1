import { Worker, type ConnectionOptions } from 'bullmq';
import { alertPayload } from '../wire/jobs.js';
import { openQueueBackend, type QueueLocation } from './backend.js';
import { ALERT_QUEUE } from './names.js';
import { openQueue } from './open-queue.js';

export interface AlertJob {
  readonly orgId: string;
  readonly deliveryId: string;
}

export interface AlertQueue {
  /** Wakes workers for deliveries that are due. @throws when the queue is away. */
  wakeAll(jobs: readonly AlertJob[]): Promise<void>;
  close(): Promise<void>;
}

export interface AlertQueueOptions {
  readonly location: QueueLocation;
  readonly concurrency: number;
  handle(job: AlertJob): Promise<void>;
  onError(error: Error): void;
}

/** A worker that dies is noticed within both together; what it had in hand falls due again in Postgres. */
const LOCK_MS = 6000;
const STALL_CHECK_MS = 2000;

/**
 * Both sides of the queue of alerts. A job is a call to look at one delivery; when it is tried again is written in
 * Postgres, and whoever finds it due there wakes somebody again. So no job is ever repeated by the queue itself.
 */
export function openAlertQueue(options: AlertQueueOptions): AlertQueue {
  const { location, concurrency, handle, onError } = options;
  const [producer, consumer] = (['producer', 'consumer'] as const).map((role) =>
    openQueueBackend(location, role, onError),
  ) as [ReturnType<typeof openQueueBackend>, ReturnType<typeof openQueueBackend>];
  const queue = openQueue(ALERT_QUEUE, producer, location.prefix);
  const worker = new Worker(
    ALERT_QUEUE,
    async ({ data }) => {
      const job = alertPayload.safeParse(data).data;
      if (job) await handle({ orgId: job.org_id, deliveryId: job.delivery_id });
    },
    {
      connection: consumer.connection as ConnectionOptions,
      prefix: location.prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALL_CHECK_MS,
      maxStalledCount: 1_000_000_000,
      runRetryDelay: 1000,
    },
    consumer.factory,
  );
  queue.on('error', onError);
  worker.on('error', onError);
  worker.on('failed', (_job, error) => onError(error));
  return {
    async wakeAll(jobs) {
      if (jobs.length === 0) return;
      const opts = { attempts: 1, removeOnComplete: true, removeOnFail: true, stackTraceLimit: 0 };
      await queue.addBulk(
        jobs.map(({ orgId, deliveryId }) => ({
          name: 'alert',
          data: { org_id: orgId, delivery_id: deliveryId },
          opts: { ...opts, jobId: deliveryId },
        })),
      );
    },
    async close() {
      await Promise.all([worker.close(), queue.close()]);
      producer.close();
      consumer.close();
    },
  };
}
