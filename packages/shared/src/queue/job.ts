import type { Job, JobsOptions } from 'bullmq';
import type { WakeUp } from '../domain/wake-up.js';
import { wakeUpPayload, type WakeUpPayload } from '../wire/jobs.js';

/** A job of ours, as a worker gets it. */
export interface WokenFor extends WakeUpPayload {
  readonly trace?: string | undefined;
}

export function toPayload({ orgId, sessionId, undoId, task }: WakeUp): WakeUpPayload {
  return { org_id: orgId, session_id: sessionId, undo_id: undoId, ...(task && { task }) };
}

/** @returns undefined for a job that we did not write. */
export function readJob({ data, opts }: Pick<Job<unknown>, 'data' | 'opts'>): WokenFor | undefined {
  const payload = wakeUpPayload.safeParse(data).data;
  return payload && { ...payload, trace: opts.telemetry?.metadata };
}

/** The backoff strategy of every job: the delay that Postgres stored. */
const POSTGRES_BACKOFF = 'postgres';

/**
 * BullMQ ignores a job whose id it still keeps, so the id names the entry and the fence: a later wake-up of the same
 * entry is another job, and a look for its effect yet another. A wake-up of a session has no name of its own. What holds
 * for every job is an option of the worker: each of these is kept in Redis for as long as the job waits.
 */
export function wakeUpOptions({ undoId, fence, task, trace }: WakeUp): JobsOptions {
  return {
    ...(undoId === null ? {} : { jobId: task ? `${undoId}-${task}` : `${undoId}-${fence}` }),
    // Budgets are columns in Postgres; BullMQ's own count must never end one.
    attempts: 1_000_000_000,
    backoff: { type: POSTGRES_BACKOFF },
    stackTraceLimit: 0,
    ...(trace !== undefined && { telemetry: { metadata: trace, omitContext: true } }),
  };
}
