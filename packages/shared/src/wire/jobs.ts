import { z } from 'zod';
import { MAX_SESSION_ID_CHARS } from '../domain/limits.js';

/** What a job of the compensation queue carries: ids, and what it is about. */
export const wakeUpPayload = z.object({
  org_id: z.uuid(),
  session_id: z.string().min(1).max(MAX_SESSION_ID_CHARS),
  undo_id: z.uuid().nullable(),
  /** Absent: undo the entry. */
  task: z.literal('lookup').exactOptional(),
});

export type WakeUpPayload = z.infer<typeof wakeUpPayload>;

/** What a job of the alert queue carries. */
export const alertPayload = z.object({ org_id: z.uuid(), delivery_id: z.uuid() });
