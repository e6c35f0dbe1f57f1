import type { Operation } from './operation.js';

export interface PutCompensation {
  readonly fnName: string;
  readonly version: string;
  /** JSON text of the body with its defaults filled in. */
  readonly specText: string;
  readonly maxRetries: number;
  /** SHA-256 of the body's canonical text as it came. */
  readonly bodyHash: Buffer;
}

export interface PutCompensationResult {
  readonly outcome: 'created' | 'same' | 'immutable';
}

const INSERT = `
INSERT INTO undolog_compensation_registry (org_id, fn_name, version, spec, max_retries, body_hash)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING fn_name`;

const SAME = `
SELECT body_hash = $4 AS same FROM undolog_compensation_registry WHERE org_id = $1 AND fn_name = $2 AND version = $3`;

/** Registers a version of a compensation. A version never changes: what was promised to an effect stays promised. */
export const putCompensation: Operation<PutCompensation, PutCompensationResult> = {
  name: 'put_compensation',
  async run(tx, orgId, { fnName, version, specText, maxRetries, bodyHash }) {
    const values = [orgId, fnName, version, specText, maxRetries, bodyHash];
    if ((await tx.query({ text: INSERT, values })).length > 0) return { outcome: 'created' };
    const [known] = await tx.query<{ same: boolean }>({ text: SAME, values: [orgId, fnName, version, bodyHash] });
    return { outcome: known?.same ? 'same' : 'immutable' };
  },
};
