import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfirmSpec } from '@undolog/shared/domain/compensation';
import { resolvePointer } from '@undolog/shared/domain/json-pointer';
import { nodeValue, parseJson } from '@undolog/shared/domain/json-text';
import { sameValue } from '@undolog/shared/domain/same-value';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { UndoCall, VendorClient } from './compensation-call.js';
import { fillTemplate } from './url-template.js';

/** Where the vendor's record of this undo is; undefined where the compensation has none, or it can't be filled in. */
export function confirmUrl(call: UndoCall): string | undefined {
  return call.spec.confirm && fillTemplate(call.spec.confirm.url, call);
}

/** Whether the record says that the undo took. An error, a redirect or an answer without the value says nothing. */
function agrees(answer: Exchange, spec: ConfirmSpec): boolean {
  if (answer.kind !== 'answer' || (answer.status >= 300 && answer.status < 400)) return false;
  if (spec.done_on_status.includes(answer.status)) return true;
  if (!spec.done_when || answer.status < 200 || answer.status >= 300 || answer.body === undefined) return false;
  const parsed = parseJson(answer.body);
  const found = parsed.ok ? resolvePointer(parsed.node, spec.done_when.pointer) : undefined;
  return found !== undefined && sameValue(nodeValue(found), spec.done_when.equals);
}

/** `abandoned`: the signal was aborted before the record agreed, so nobody can say that it does not. */
export type Agreement = 'agreed' | 'not_agreed' | 'abandoned';

/** Asks the vendor's record once. A compensation without a record, or without the values to find it, has no agreement. */
export async function askOnce(
  client: VendorClient,
  call: UndoCall,
  signal: AbortSignal,
  timeoutMs = call.spec.timeout_ms,
): Promise<Agreement> {
  const url = confirmUrl(call);
  if (url === undefined || !call.spec.confirm) return 'not_agreed';
  if (agrees(await client.ask(url, call, timeoutMs, signal), call.spec.confirm)) return 'agreed';
  return signal.aborted ? 'abandoned' : 'not_agreed';
}

/** However little of the budget is left, an answer gets this long. */
const MIN_ASK_MS = 1000;

/**
 * Asks until the record agrees or the budget is spent, for the last time at its very end; a single look may come before
 * the vendor's own commit.
 */
export async function pollUntilAgreed(client: VendorClient, call: UndoCall, signal: AbortSignal): Promise<Agreement> {
  const { budget_ms: budgetMs, interval_ms: intervalMs } = call.spec.confirm!;
  const endMs = monotonicMs() + budgetMs;
  for (;;) {
    const askMs = Math.max(MIN_ASK_MS, endMs - monotonicMs());
    const agreement = await askOnce(client, call, signal, Math.min(call.spec.timeout_ms, askMs));
    const leftMs = endMs - monotonicMs();
    if (agreement !== 'not_agreed' || leftMs <= 0) return agreement;
    // An abort ends the wait; the next look then tells of it.
    await sleep(Math.min(intervalMs, Math.ceil(leftMs)), undefined, { signal }).catch(() => {});
  }
}
