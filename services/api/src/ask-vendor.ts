import type { Compensation } from '@undolog/shared/domain/compensation';
import type { JsonText } from '@undolog/shared/domain/json-text';
import type { UnreadableCode } from '@undolog/shared/domain/settlement';
import { monotonicMs } from '@undolog/shared/runtime/clock';
import type { BrokenEntry } from '@undolog/shared/store/read-broken-entry';
import { askOnce, confirmUrl } from '@undolog/shared/vendor/ask-record';
import { boundBody } from '@undolog/shared/vendor/bound-body';
import type { FindCompensation } from '@undolog/shared/vendor/compensation-cache';
import type { UndoCall, VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { FindCredentials } from '@undolog/shared/vendor/credentials';
import { lookUp } from '@undolog/shared/vendor/lookup';
import { childTraceparent } from '@undolog/shared/runtime/trace-context';

/** What the api needs in order to ask a vendor; the same way out, and the same guard, as the compensators'. */
export interface VendorAccess {
  readonly client: VendorClient;
  readonly findCompensation: FindCompensation;
  readonly findCredentials: FindCredentials;
}

export type VendorWord =
  | { readonly kind: 'agreed' | 'disagreed' | 'no_confirm' | 'missing_result' }
  /** What is asked, or with what, can't be read here. */
  | { readonly kind: 'unreadable'; readonly fault: UnreadableCode };

/** A person waits for the answer. */
export const ASK_WITHIN_MS = 10_000;

/** What nobody has reported is looked up first: its result may be part of the record's address. */
async function resultOf(entry: BrokenEntry, call: UndoCall, client: VendorClient): Promise<JsonText | null> {
  if (entry.result !== null || entry.effectOutcome === 'committed' || !call.spec.lookup) return entry.result;
  const looked = await lookUp(client, call, AbortSignal.timeout(ASK_WITHIN_MS));
  return looked.kind === 'found' ? looked.result : null;
}

function callOf(entry: BrokenEntry, spec: Compensation, body: string): UndoCall {
  const { undoId, sessionId, effectId, effectOutcome: outcome, attempts: attempt, traceparent } = entry;
  return { spec, body, undoId, sessionId, effectId, outcome, attempt, traceparent: childTraceparent(traceparent) };
}

/** Asks the vendor's own record whether an entry is undone. It sends no undo, and changes nothing. */
export async function askVendor(access: VendorAccess, orgId: string, entry: BrokenEntry): Promise<VendorWord> {
  const startedMs = monotonicMs();
  const spec = await access.findCompensation(orgId, entry.fnName, entry.version);
  if ('fault' in spec) return { kind: 'unreadable', fault: spec.fault };
  if (!spec.confirm) return { kind: 'no_confirm' };
  const credentials = await access.findCredentials(orgId, spec);
  if ('fault' in credentials) return { kind: 'unreadable', fault: credentials.fault };
  const client = access.client.carrying(credentials);
  const body = boundBody(entry, await resultOf(entry, callOf(entry, spec, entry.args.text), client));
  if (body === undefined) return { kind: 'missing_result' };
  const call = callOf(entry, spec, body);
  if (confirmUrl(call) === undefined) return { kind: 'missing_result' };
  const leftMs = Math.max(1, Math.round(ASK_WITHIN_MS - (monotonicMs() - startedMs)));
  const timeoutMs = Math.min(spec.timeout_ms, leftMs);
  const shown = await askOnce(call, { client, signal: AbortSignal.timeout(leftMs), timeoutMs });
  return { kind: shown === 'agreed' ? 'agreed' : 'disagreed' };
}
