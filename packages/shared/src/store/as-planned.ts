import type { UnwindPlan } from '../domain/unwind-plan.js';
import { lockSessions } from './lock-sessions.js';
import type { Operation } from './operation.js';
import { planSession } from './plan-unwind.js';

export interface AsPlanned<I> {
  readonly input: I;
  /** The digest of the plan that was agreed to. */
  readonly planDigest: string;
  /** Down to where was planned; -1: all. */
  readonly toPosition: number;
  digestOf(plan: UnwindPlan): string;
}

/**
 * The operation, only if what it starts is what was planned. The plan is made anew under the session's lock, so nothing
 * can change between the comparison and the start. Where the operation would start nothing, as when it is repeated,
 * there is nothing to compare: it answers for itself.
 */
export function asPlanned<I extends { readonly sessionId: string }, R>(
  operation: Operation<I, R>,
): Operation<AsPlanned<I>, R | { readonly outcome: 'plan_changed' }> {
  return {
    name: `${operation.name}_as_planned`,
    async run(tx, orgId, { input, planDigest, toPosition, digestOf }) {
      await tx.query(lockSessions(orgId, [input]));
      const now = await planSession(tx, orgId, input.sessionId, toPosition);
      if (now?.open && digestOf(now.plan) !== planDigest) return { outcome: 'plan_changed' };
      return operation.run(tx, orgId, input);
    },
  };
}
