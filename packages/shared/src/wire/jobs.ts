import { z } from 'zod';
import { MAX_SESSION_ID_CHARS } from '../domain/limits.js';

/** What a job of the compensation queue carries: ids and nothing else. */
export const wakeUpPayload = z.object({
  org_id: z.uuid(),
  session_id: z.string().min(1).max(MAX_SESSION_ID_CHARS),
  undo_id: z.uuid().nullable(),
});

export type WakeUpPayload = z.infer<typeof wakeUpPayload>;
