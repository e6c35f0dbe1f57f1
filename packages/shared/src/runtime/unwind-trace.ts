import { z } from 'zod';
import { TRACEPARENT } from '../domain/traceparent.js';
import type { WakeUp } from '../domain/wake-up.js';
import { childTraceparent } from './trace-context.js';

const traceparent = z.string().regex(TRACEPARENT);

/** An unwind that goes on: its span is written when it ends, by whoever ends it, and has its id from the start. */
const openUnwind = z.object({
  session: z.string(),
  self: traceparent,
  parent: traceparent.nullable(),
  /** Null: nobody remembers. */
  began_ms: z.number().nullable(),
});

export type OpenUnwind = Readonly<z.infer<typeof openUnwind>>;

/** Of a session and those that wait for it, outermost first. Nested deeper than this, they are not told apart. */
const MAX_OPEN = 20;
const openUnwinds = z.array(openUnwind).max(MAX_OPEN);

export function newUnwind(session: string, parent: string | null, beganMs: number | null, spanId?: string): OpenUnwind {
  return { session, self: childTraceparent(parent, spanId), parent, began_ms: beganMs };
}

/** A wake-up that carries the unwinds it is part of. They are lost with the queue, and nothing depends on them. */
export function carrying(wake: WakeUp, unwinds: readonly OpenUnwind[]): WakeUp {
  return unwinds.length === 0 ? wake : { ...wake, trace: JSON.stringify(unwinds.slice(0, MAX_OPEN)) };
}

/** What a wake-up carried; nothing where it carried nothing that we wrote. */
export function unwindsOf(trace: string | undefined): readonly OpenUnwind[] {
  if (trace === undefined) return [];
  try {
    return openUnwinds.safeParse(JSON.parse(trace)).data ?? [];
  } catch {
    return [];
  }
}
