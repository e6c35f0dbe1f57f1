import { Worker, type ConnectionOptions, type Job } from 'bullmq';
import type { QueueKind } from '../domain/queue-kind.js';
import { openQueueBackend, type QueueLocation } from './backend.js';
import { readJob, type WokenFor } from './job.js';
import { COMPENSATION_QUEUE } from './names.js';

/** Thrown by a job's handler: wake somebody for this entry again after `waitMs`. */
export class WakeAgain extends Error {
  override readonly name = 'WakeAgain';
  readonly waitMs: number;
  constructor(waitMs: number) {
    super('wake again');
    this.waitMs = waitMs;
  }
}

export interface WorkerOptions {
  readonly location: QueueLocation;
  readonly concurrency: number;
  handle(job: WokenFor): Promise<void>;
  onForeignJob(): void;
  onError(error: Error): void;
}

export interface CompensationWorker {
  readonly kind: QueueKind;
  /** Takes no new jobs, and resolves when those in hand are done. */
  close(): Promise<void>;
}

/** A worker that dies is noticed within LOCK_MS + STALL_CHECK_MS; its job then wakes another one. */
const LOCK_MS = 3500;
const STALL_CHECK_MS = 1000;
/** A finished job is not kept at all: it would keep its id from being woken again. */
const NOT_KEPT = { count: 0 };
/** For a fault of our own, such as Postgres away: the entry is still there, look again. */
const FAULT_WAIT_MS = 1000;

/** The consumer's side: jobs wake `handle`, whose outcome is in Postgres by the time it returns. */
export function startCompensationWorker(options: WorkerOptions): CompensationWorker {
  const backend = openQueueBackend(options.location, 'consumer', options.onError);
  const worker = new Worker(
    COMPENSATION_QUEUE,
    async (job: Job) => {
      const ours = readJob(job);
      if (ours) await options.handle(ours);
      else options.onForeignJob();
    },
    {
      connection: backend.connection as ConnectionOptions,
      prefix: options.location.prefix,
      concurrency: options.concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALL_CHECK_MS,
      // A job may stall any number of times: whether an entry has had enough is decided in Postgres.
      maxStalledCount: 1_000_000_000,
      runRetryDelay: 1000,
      removeOnComplete: NOT_KEPT,
      removeOnFail: NOT_KEPT,
      settings: {
        backoffStrategy: (_made, _type, error) => (error instanceof WakeAgain ? error.waitMs : FAULT_WAIT_MS),
      },
    },
    backend.factory,
  );
  worker.on('error', options.onError);
  worker.on('failed', (_job, error) => {
    if (!(error instanceof WakeAgain)) options.onError(error);
  });
  return {
    kind: backend.kind,
    async close() {
      await worker.close();
      backend.close();
    },
  };
}
