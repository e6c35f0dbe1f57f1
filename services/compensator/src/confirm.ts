import type { ConfirmSpec } from '@undolog/shared/domain/compensation';
import { resolvePointer } from '@undolog/shared/domain/json-pointer';
import { nodeValue, parseJson } from '@undolog/shared/domain/json-text';
import { sameValue } from '@undolog/shared/domain/same-value';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UndoCall, VendorClient } from './compensation-call.js';
import { fillTemplate } from './url-template.js';

/** Where the vendor's record of this undo is; undefined where the compensation has none, or it can't be filled in. */
export function confirmUrl(call: UndoCall): string | undefined {
  return call.spec.confirm && fillTemplate(call.spec.confirm.url, call);
}

/** Whether the record says that the undo took. An error, a redirect or an answer without the value says nothing. */
function agrees(answer: Exchange, spec: ConfirmSpec): boolean {
  if (answer.kind !== 'answer') return false;
  if (spec.done_on_status.includes(answer.status)) return true;
  if (!spec.done_when || answer.status < 200 || answer.status >= 300 || answer.body === undefined) return false;
  const parsed = parseJson(answer.body);
  const found = parsed.ok ? resolvePointer(parsed.node, spec.done_when.pointer) : undefined;
  return found !== undefined && sameValue(nodeValue(found), spec.done_when.equals);
}

/** Asks the vendor's record once. */
export async function askOnce(
  client: VendorClient,
  call: UndoCall,
  signal: AbortSignal,
  timeoutMs = call.spec.timeout_ms,
): Promise<boolean> {
  const url = confirmUrl(call);
  if (url === undefined || !call.spec.confirm) return false;
  return agrees(await client.ask(url, call, timeoutMs, signal), call.spec.confirm);
}

/** Asks until the record agrees or the budget is spent; a single look may come before the vendor's own commit. */
export async function pollUntilAgreed(client: VendorClient, call: UndoCall, signal: AbortSignal): Promise<boolean> {
  const { budget_ms: budgetMs, interval_ms: intervalMs } = call.spec.confirm!;
  const endMs = monotonicMs() + budgetMs;
  for (;;) {
    const leftMs = Math.max(1, endMs - monotonicMs());
    if (await askOnce(client, call, signal, Math.min(call.spec.timeout_ms, leftMs))) return true;
    if (signal.aborted || monotonicMs() + intervalMs >= endMs) return false;
    await sleep(intervalMs);
  }
}
