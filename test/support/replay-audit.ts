import type { AuditEntryView } from '@undolog/shared/store/audit-log';

/** What the audit log says became of sessions and entries. */
export interface Replayed {
  /** By session id; one that is not named is `active` still. */
  readonly sessions: ReadonlyMap<string, string>;
  /** By undo id; `waiting`: not settled, or given a new round. One that is not named waits, too. */
  readonly entries: ReadonlyMap<string, string>;
}

/** Reads the log from its beginning, and from nothing else tells the states. */
export function replayAudit(
  log: readonly Pick<AuditEntryView, 'seq' | 'action' | 'session_id' | 'undo_id' | 'after'>[],
) {
  const sessions = new Map<string, string>();
  const entries = new Map<string, string>();
  for (const { action, session_id: sessionId, undo_id: undoId, after } of log.toSorted((a, b) => a.seq - b.seq)) {
    if (action.startsWith('session.') && after !== null) sessions.set(sessionId!, after);
    if (action.startsWith('undo.') && after !== null) entries.set(undoId!, after);
    if (action === 'dead_letter.retry' && undoId !== null) entries.set(undoId, 'waiting');
  }
  return { sessions, entries } satisfies Replayed;
}
