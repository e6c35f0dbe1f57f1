import { hash } from 'node:crypto';
import type { UnwindPlan } from '@undolog/shared/domain/unwind-plan';

/** Equal for plans that do the same to the same entries in the same order. */
export function digestOf(plan: UnwindPlan): string {
  return hash('sha256', JSON.stringify(plan));
}
