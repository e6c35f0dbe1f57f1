import type { BulkAnswer, BulkDeadLetters } from './operator-types.js';

/** How far a bulk action has come. */
export interface DrainProgress {
  /** Open letters that the filter picked at the beginning. */
  readonly matched: number;
  readonly applied: number;
  /** Looked at and left as they were, each once. */
  readonly refused: readonly { readonly dead_letter_id: string; readonly code: string }[];
}

type Bulk = (body: BulkDeadLetters) => Promise<BulkAnswer & { retryAfterMs: number }>;

/**
 * Makes one bulk request after the other, as each does what it can in its time, and tells how far it has come. What has
 * halted since the first request is left alone. An aborted signal ends it after the request under way.
 */
export async function* drain(bulk: Bulk, body: BulkDeadLetters, signal?: AbortSignal): AsyncGenerator<DrainProgress> {
  const refused = new Map<string, { dead_letter_id: string; code: string }>();
  let [matched, applied] = [0, 0];
  let asOf = body.halted_before;
  for (;;) {
    const answer = await bulk({ ...body, ...(asOf !== undefined && { halted_before: asOf }) });
    asOf ??= answer.as_of;
    matched ||= answer.matched;
    applied += answer.applied ?? 0;
    for (const one of answer.refused ?? []) refused.set(one.dead_letter_id, one);
    yield { matched, applied, refused: [...refused.values()] };
    if (!answer.remaining || !answer.applied || signal?.aborted) return;
    await new Promise((resolve) => setTimeout(resolve, answer.retryAfterMs));
  }
}
