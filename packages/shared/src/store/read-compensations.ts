import type { Compensation } from '../domain/compensation.js';
import type { Tx } from './database.js';

export interface RegisteredCompensation {
  readonly fnName: string;
  readonly version: string;
  readonly spec: Compensation;
  readonly createdAt: string;
}

interface Row {
  fn_name: string;
  version: string;
  spec: string;
  created_at: string;
}

const COLUMNS = 'SELECT fn_name, version, spec, created_at FROM undolog_compensation_registry WHERE org_id = $1';

function registered(row: Row): RegisteredCompensation {
  // The text was validated when it was registered and its version has not changed since.
  const spec = JSON.parse(row.spec) as Compensation;
  return { fnName: row.fn_name, version: row.version, spec, createdAt: row.created_at };
}

export async function readCompensation(
  tx: Tx,
  orgId: string,
  fnName: string,
  version: string,
): Promise<RegisteredCompensation | undefined> {
  const [row] = await tx.query<Row>({
    name: 'read_compensation',
    text: `${COLUMNS} AND fn_name = $2 AND version = $3`,
    values: [orgId, fnName, version],
  });
  return row && registered(row);
}

export async function listCompensations(tx: Tx, orgId: string): Promise<RegisteredCompensation[]> {
  const rows = await tx.query<Row>({ text: `${COLUMNS} ORDER BY fn_name, version`, values: [orgId] });
  return rows.map(registered);
}
