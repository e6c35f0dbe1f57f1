import type { AlertEvent } from '../domain/alerts.js';
import type { Database } from './database.js';

/** A delivery that is due. */
export interface DueAlert {
  readonly orgId: string;
  readonly deliveryId: string;
}

// The audit log in the order of transactions, as the stream reads it: what commits late has a late place.
const NEWS = `
WITH hook AS MATERIALIZED (
  SELECT w.org_id, w.webhook_id, w.events, w.read_xid, w.read_seq
  FROM undolog_webhooks w
  WHERE w.state = 'enabled' AND EXISTS (
    SELECT 1 FROM undolog_audit_log a
    WHERE a.org_id = w.org_id AND (a.xid, a.seq) > (w.read_xid, w.read_seq)
      AND a.xid < pg_snapshot_xmin(pg_current_snapshot()))
  LIMIT $1 FOR UPDATE OF w SKIP LOCKED
)
SELECT h.org_id, h.webhook_id, n.xid::text AS xid, n.seq, n.at, n.action AS event, n.action = ANY (h.events) AS wanted,
  n.session_id, n.undo_id, s.agent_name, l.dead_letter_id, coalesce(u.code, l.code) AS code, u.stack_position
FROM hook h
CROSS JOIN LATERAL (
  SELECT a.xid, a.seq, a.at, a.action, a.session_id, a.undo_id FROM undolog_audit_log a
  WHERE a.org_id = h.org_id AND (a.xid, a.seq) > (h.read_xid, h.read_seq)
    AND a.xid < pg_snapshot_xmin(pg_current_snapshot())
  ORDER BY a.xid, a.seq LIMIT $2
) n
LEFT JOIN undolog_sessions s ON s.org_id = h.org_id AND s.session_id = n.session_id
LEFT JOIN undolog_undo_stack u ON u.org_id = h.org_id AND u.undo_id = n.undo_id
LEFT JOIN undolog_dead_letters l ON n.action = 'session.halted' AND l.org_id = h.org_id AND l.session_id = n.session_id
  AND l.state = 'open'
ORDER BY n.xid, n.seq`;

interface News {
  org_id: string;
  webhook_id: string;
  xid: string;
  seq: number;
  at: string;
  event: AlertEvent;
  wanted: boolean;
  session_id: string | null;
  undo_id: string | null;
  agent_name: string | null;
  dead_letter_id: string | null;
  code: string | null;
  stack_position: number | null;
}

/** Ids and words of ours, and nothing of what an agent handed over. */
function bodyOf({ event, at, session_id, undo_id, agent_name, dead_letter_id, code, stack_position }: News): string {
  const known = { session_id, undo_id, dead_letter_id, code, stack_position, agent_name };
  const data = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
  return JSON.stringify({ type: event, timestamp: at, data });
}

const WRITE = `
WITH item AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::boolean[])
    AS i (org_id, delivery_id, webhook_id, xid, seq, event, body, wanted)
), written AS (
  INSERT INTO undolog_alert_deliveries (org_id, delivery_id, webhook_id, xid, seq, event, body)
  SELECT org_id, delivery_id, webhook_id, xid::xid8, seq, event, body FROM item WHERE wanted
  ON CONFLICT DO NOTHING
), moved AS (
  UPDATE undolog_webhooks w SET read_xid = i.xid::xid8, read_seq = i.seq
  FROM (SELECT DISTINCT ON (webhook_id) org_id, webhook_id, xid, seq FROM item ORDER BY webhook_id, xid::xid8 DESC, seq DESC) i
  WHERE w.org_id = i.org_id AND w.webhook_id = i.webhook_id
)
SELECT 1`;

/**
 * Writes a delivery for each entry of the audit log that a webhook wants to hear of, after the place up to which it was
 * told. Two at once take different webhooks; what one of them leaves, the next turn takes.
 *
 * @returns how many entries were looked at.
 */
export function writeAlerts(
  database: Database,
  limits: { readonly webhooks: number; readonly entries: number },
  newId: () => string,
): Promise<number> {
  return database.transaction(async (tx) => {
    const news = await tx.query<News>({ name: 'read_news', text: NEWS, values: [limits.webhooks, limits.entries] });
    if (news.length === 0) return 0;
    const column = <V>(pick: (item: News) => V): V[] => news.map(pick);
    const values = [
      column((item) => item.org_id),
      column(newId),
      column((item) => item.webhook_id),
      column((item) => item.xid),
      column((item) => item.seq),
      column((item) => item.event),
      column((item) => (item.wanted ? bodyOf(item) : '')),
      column((item) => item.wanted),
    ];
    await tx.query({ name: 'write_alerts', text: WRITE, values });
    return news.length;
  });
}
