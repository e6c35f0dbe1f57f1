import type { BulkDeadLetters } from '@undolog/client';
import { visible } from '@undolog/client/visible-text';

/** What a list of dead letters is filtered by. */
export type ListFilter = Readonly<Partial<Record<'session_id' | 'agent_name' | 'fn_name' | 'code' | 'host', string>>>;

export type BulkFilter = BulkDeadLetters['filter'];

/** Which letters are meant: those picked by hand, or else all that the list's filter picks. A text says why it is none. */
export function bulkFilterOf(filter: ListFilter, picked: ReadonlySet<string>): BulkFilter | string {
  if (picked.size > 0) return { session_ids: [...picked] };
  const { session_id: id, host, ...others } = filter;
  if (host !== undefined) return 'A host picks none here: filter by compensation, or pick them by hand.';
  const chosen: BulkFilter = { ...others, ...(id !== undefined && { session_ids: [id] }) };
  if (Object.keys(chosen).length === 0)
    return 'Say which: filter by compensation, code or agent, or pick some by hand (Space).';
  return chosen;
}

export function inWords(filter: BulkFilter): string {
  const { session_ids: ids, ...others } = filter;
  const traits = Object.entries(others).map(([name, value]) => `${name.replace('_name', '')} ${visible(value)}`);
  return [...(ids ? [ids.length === 1 ? 'one session' : `${ids.length} sessions`] : []), ...traits].join(', ');
}
