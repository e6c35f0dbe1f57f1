import type { Compensation } from '../domain/compensation.js';
import { exactValue } from '../domain/exact-value.js';
import { nodeOf, type JsonText } from '../domain/json-text.js';
import type { Tx } from './database.js';
import { fromBytes } from './json-bytes.js';
import { placeOfSpec } from './put-compensation.js';
import { unsealJson } from './sealed-json.js';

export interface RegisteredCompensation {
  readonly fnName: string;
  readonly version: string;
  readonly spec: Compensation;
  readonly createdAt: string;
  /** Why it is paused, in all its versions; null: it is not. */
  readonly pauseReason: JsonText | null;
}

interface Row {
  fn_name: string;
  version: string;
  spec: Buffer;
  created_at: string;
  pause_reason: Buffer | null;
}

const COLUMNS = `
SELECT r.fn_name, r.version, r.spec, r.created_at, p.reason AS pause_reason
FROM undolog_compensation_registry r
LEFT JOIN undolog_paused_compensations p ON p.org_id = r.org_id AND p.fn_name = r.fn_name
WHERE r.org_id = $1`;

function registered({ vault }: Tx, orgId: string, row: Row): RegisteredCompensation {
  // The text was validated when it was registered and its version has not changed since.
  const text = unsealJson(vault, placeOfSpec(orgId, row.fn_name, row.version), row.spec);
  const spec = exactValue(nodeOf(text)) as Compensation;
  return {
    fnName: row.fn_name,
    version: row.version,
    spec,
    createdAt: row.created_at,
    pauseReason: fromBytes(row.pause_reason),
  };
}

/** @throws {UnreadableValue} as `listCompensations` does. */
export async function readCompensation(
  tx: Tx,
  orgId: string,
  fnName: string,
  version: string,
): Promise<RegisteredCompensation | undefined> {
  const [row] = await tx.query<Row>({
    name: 'read_compensation',
    text: `${COLUMNS} AND r.fn_name = $2 AND r.version = $3`,
    values: [orgId, fnName, version],
  });
  return row && registered(tx, orgId, row);
}

export async function listCompensations(tx: Tx, orgId: string): Promise<RegisteredCompensation[]> {
  const rows = await tx.query<Row>({ text: `${COLUMNS} ORDER BY r.fn_name, r.version`, values: [orgId] });
  return rows.map((row) => registered(tx, orgId, row));
}
