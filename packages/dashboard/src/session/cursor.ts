import type { DeadLetter, Session, UndoEntry } from '@undolog/client';

const TO_RUN: ReadonlySet<string> = new Set(['pending', 'active']);

/** The entry at which the unwind is: it runs, is next, or has stopped everything. Entries come with the top first. */
export function cursorOf(
  entries: readonly UndoEntry[],
  { state, rollback_to: rollbackTo }: Session,
  letter: DeadLetter | undefined,
): string | undefined {
  const running = entries.find((entry) => entry.state === 'running');
  if (running) return running.undo_id;
  if (state === 'halted') return letter?.undo_id ?? undefined;
  if (state !== 'compensating' && state !== 'failed') return undefined;
  const lowest = rollbackTo ?? -1;
  return entries.find((entry) => TO_RUN.has(entry.state) && entry.stack_position > lowest)?.undo_id;
}
