import type { Tx } from './database.js';

const FIND = `
WITH item AS MATERIALIZED (SELECT $1::uuid AS org_id, unnest($2::uuid[]) AS effect_id)
SELECT e.effect_id, e.session_id FROM item i
JOIN undolog_effect_log e ON e.org_id = i.org_id AND e.effect_id = i.effect_id`;

/** Which sessions effects belong to, by effect id; those that are not there are left out. */
export async function findEffectSessions(
  tx: Tx,
  orgId: string,
  effectIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query<{ effect_id: string; session_id: string }>({
    name: 'find_effect_sessions',
    text: FIND,
    values: [orgId, effectIds],
  });
  return new Map(rows.map((row) => [row.effect_id, row.session_id]));
}
