import type { SessionState } from '../domain/states.js';
import type { Tx } from './database.js';
import { sessionQuery, sessionView, type SessionRow, type SessionView } from './read-session.js';

/** All that is given must hold. */
export interface SessionFilter {
  readonly states?: readonly SessionState[] | undefined;
  readonly sessionIdPrefix?: string | undefined;
  readonly externalRunId?: string | undefined;
  readonly agentName?: string | undefined;
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly limit: number;
  /** The last session of the page before: only older ones follow. */
  readonly after?: { readonly createdAt: string; readonly sessionId: string } | undefined;
}

/** Ids are printable ASCII, so that every id with a prefix comes before the prefix and this. */
const AFTER_ALL_IDS = '\u007f';
/** So many sessions with a prefix are looked at, the last ids first; those that UndoLog makes end with the newest. */
const MAX_WITH_PREFIX = 10_000;

/** Values by their place in the statement. */
class Values {
  readonly all: unknown[] = [];

  /** Where the next value stands: `$3`. */
  next(value: unknown): string {
    this.all.push(value);
    return `$${this.all.length}`;
  }
}

const UNWINDING: readonly SessionState[] = ['failed', 'compensating'];

/**
 * Where the page is looked for: by the index that leads to the fewest sessions. OFFSET 0 keeps Postgres on that way: with
 * the org beside it, a young table would be entered by the org, and that is all of its sessions.
 */
function sourceOf(filter: SessionFilter, org: string, values: Values): string {
  const { sessionIdPrefix: prefix, externalRunId, states } = filter;
  if (prefix !== undefined) {
    const range = `session_id >= ${values.next(prefix)} AND session_id < ${values.next(prefix + AFTER_ALL_IDS)}`;
    return `(SELECT * FROM undolog_sessions WHERE ${range} AND org_id = ${org} ORDER BY session_id DESC LIMIT ${MAX_WITH_PREFIX})`;
  }
  if (externalRunId !== undefined) {
    return `(SELECT * FROM undolog_sessions WHERE external_run_id = ${values.next(externalRunId)} AND org_id = ${org} OFFSET 0)`;
  }
  if (states?.every((state) => UNWINDING.includes(state))) {
    return `(SELECT * FROM undolog_sessions WHERE wake_at IS NOT NULL OFFSET 0)`;
  }
  if (states?.every((state) => state === 'halted')) {
    return `(SELECT h.* FROM (SELECT session_id, org_id FROM undolog_dead_letters WHERE state = 'open' OFFSET 0) d
      JOIN undolog_sessions h ON h.session_id = d.session_id AND h.org_id = d.org_id WHERE d.org_id = ${org} OFFSET 0)`;
  }
  return 'undolog_sessions';
}

function pageOf(orgId: string, filter: SessionFilter, values: Values): string {
  const { states, externalRunId, agentName, createdAfter, createdBefore, after } = filter;
  const org = values.next(orgId);
  const source = sourceOf(filter, org, values);
  const conditions = [`p.org_id = ${org}`];
  if (states) conditions.push(`p.state = ANY (${values.next(states)}::text[])`);
  if (externalRunId !== undefined) conditions.push(`p.external_run_id = ${values.next(externalRunId)}`);
  if (agentName !== undefined) conditions.push(`p.agent_name = ${values.next(agentName)}`);
  if (createdAfter !== undefined) conditions.push(`p.created_at > ${values.next(createdAfter)}::timestamptz`);
  if (createdBefore !== undefined) conditions.push(`p.created_at < ${values.next(createdBefore)}::timestamptz`);
  if (after) {
    const last = `${values.next(after.createdAt)}::timestamptz, ${values.next(after.sessionId)}::text`;
    conditions.push(`(p.created_at, p.session_id) < (${last})`);
  }
  return `(SELECT p.* FROM ${source} p WHERE ${conditions.join(' AND ')}
  ORDER BY p.created_at DESC, p.session_id DESC LIMIT ${values.next(filter.limit)})`;
}

/** A page of the org's sessions, newest first, by keyset. */
export async function listSessions(tx: Tx, orgId: string, filter: SessionFilter): Promise<SessionView[]> {
  const values = new Values();
  const text = `${sessionQuery(pageOf(orgId, filter, values))} ORDER BY s.created_at DESC, s.session_id DESC`;
  const rows = await tx.query<SessionRow>({ text, values: values.all });
  return rows.map(sessionView);
}
