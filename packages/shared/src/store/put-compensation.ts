import type { Fingerprint, Place } from '../domain/vault.js';
import type { Operation } from './operation.js';

export interface PutCompensation {
  readonly fnName: string;
  readonly version: string;
  /** JSON text of the body with its defaults filled in. */
  readonly specText: string;
  readonly maxRetries: number;
  readonly undoDeadlineSeconds?: number | undefined;
  /** Whether it says how to find out if an effect exists. */
  readonly looksUp: boolean;
  /** Of the body as it came. */
  readonly fingerprint: Fingerprint;
}

export interface PutCompensationResult {
  readonly outcome: 'created' | 'same' | 'immutable';
}

const INSERT = `
INSERT INTO undolog_compensation_registry (org_id, fn_name, version, spec, max_retries, body_hash,
  undo_deadline_seconds, looks_up)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING fn_name`;

const KNOWN = `
SELECT body_hash FROM undolog_compensation_registry WHERE org_id = $1 AND fn_name = $2 AND version = $3`;

/** A spec is sealed whole: a header that is written out, or an address, may hold a token. */
export function placeOfSpec(orgId: string, fnName: string, version: string): Place {
  return { orgId, column: 'spec', row: JSON.stringify([fnName, version]) };
}

/** Registers a version of a compensation. A version never changes: what was promised to an effect stays promised. */
export const putCompensation: Operation<PutCompensation, PutCompensationResult> = {
  name: 'put_compensation',
  async run(tx, orgId, input) {
    const { fnName, version, fingerprint } = input;
    const spec = tx.vault.seal(placeOfSpec(orgId, fnName, version), input.specText);
    const values = [
      orgId,
      fnName,
      version,
      spec,
      input.maxRetries,
      fingerprint.bytes,
      input.undoDeadlineSeconds ?? null,
      input.looksUp,
    ];
    if ((await tx.query({ text: INSERT, values })).length > 0) return { outcome: 'created' };
    const [known] = await tx.query<{ body_hash: Buffer }>({ text: KNOWN, values: [orgId, fnName, version] });
    return { outcome: known && fingerprint.matches(known.body_hash) ? 'same' : 'immutable' };
  },
};
