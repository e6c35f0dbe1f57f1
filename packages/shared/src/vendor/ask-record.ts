import type { ConfirmSpec } from '../domain/compensation.js';
import { exactValue } from '../domain/exact-value.js';
import { resolvePointer } from '../domain/json-pointer.js';
import { parseJson } from '../domain/json-text.js';
import { sameValue } from '../domain/same-value.js';
import type { Exchange } from '../domain/verdict.js';
import type { UndoCall, VendorClient } from './compensation-call.js';
import { fillTemplate } from './url-template.js';

/** Where the vendor's record of this undo is; undefined where the compensation has none, or it can't be filled in. */
export function confirmUrl(call: UndoCall): string | undefined {
  return call.spec.confirm && fillTemplate(call.spec.confirm.url, call);
}

/** `not_done`: the record was read and shows the effect standing; `not_agreed`: it says nothing. */
type Shown = 'agreed' | 'failed' | 'not_done' | 'not_agreed';

/**
 * What the record says. An error, a redirect or an answer without the value says nothing.
 *
 * @param statuses those that say "gone" by themselves.
 */
function shownBy(answer: Exchange, spec: ConfirmSpec, statuses: readonly number[]): Shown {
  if (answer.kind !== 'answer' || (answer.status >= 300 && answer.status < 400)) return 'not_agreed';
  if (statuses.includes(answer.status)) return 'agreed';
  if (answer.status < 200 || answer.status >= 300 || answer.body === undefined) return 'not_agreed';
  const parsed = parseJson(answer.body);
  if (!parsed.ok) return 'not_agreed';
  const holds = (pointer: string, values: readonly unknown[]): boolean => {
    const found = resolvePointer(parsed.node, pointer);
    return found !== undefined && values.some((value) => sameValue(exactValue(found), value));
  };
  const { done_when: done, failed_when: failed } = spec;
  if (done && holds(done.pointer, [done.equals])) return 'agreed';
  if (failed && holds(failed.pointer, failed.in ?? [failed.equals])) return 'failed';
  return !done || resolvePointer(parsed.node, done.pointer) ? 'not_done' : 'not_agreed';
}

/** `abandoned`: the signal was aborted before the record agreed, so nobody can say that it does not. */
export type Agreement = Shown | 'abandoned';

export interface Question {
  readonly client: VendorClient;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  /** Where the vendor said that its work can be followed; its word counts as much as the record's. */
  readonly location?: string | null;
}

/** Asks the vendor's record once. A compensation without a record, or without the values to find it, has no agreement. */
export async function askOnce(call: UndoCall, question: Question): Promise<Agreement> {
  const { client, signal, timeoutMs = call.spec.timeout_ms, location = null } = question;
  const url = confirmUrl(call);
  if (url === undefined || !call.spec.confirm) return 'not_agreed';
  // A status that says "gone" of the record says nothing of the place where the work was followed.
  const places = [
    ...(location === null ? [] : [{ url: location, statuses: [] }]),
    { url, statuses: call.spec.confirm.done_on_status },
  ];
  let shown: Shown = 'not_agreed';
  for (const place of places) {
    shown = shownBy(await client.ask(place.url, call, timeoutMs, signal), call.spec.confirm, place.statuses);
    if (shown === 'agreed' || shown === 'failed') return shown;
  }
  return shown === 'not_agreed' && signal.aborted ? 'abandoned' : shown;
}
