import { ACKNOWLEDGED } from './acknowledged.js';
import { ENDINGS } from './endings.js';
import type { Evidence, Finding, Invariant } from './evidence.js';
import { HALTS } from './halts.js';
import { KEYS } from './keys.js';
import { MOVES } from './moves.js';
import { ORDER } from './order.js';
import { PROOFS } from './proofs.js';
import { TENANTS } from './tenants.js';

/** All that a run is judged by. */
export const INVARIANTS: readonly Invariant[] = [
  ...ACKNOWLEDGED,
  ...ORDER,
  ...KEYS,
  ...ENDINGS,
  ...HALTS,
  ...TENANTS,
  ...MOVES,
  ...PROOFS,
];

/** What had nothing to look at has proved nothing. */
export const NOTHING_SEEN = 'there was nothing to look at';

export interface Verdict extends Finding {
  readonly invariant: Invariant;
}

export function check(evidence: Evidence): Verdict[] {
  return INVARIANTS.map((invariant) => {
    const { looked, violations } = invariant.check(evidence);
    return { invariant, looked, violations: looked === 0 ? [NOTHING_SEEN] : violations };
  });
}
