import { judgeLookup, type Looked } from '../domain/lookup.js';
import type { UndoCall, VendorClient } from './compensation-call.js';
import { fillTemplate } from './url-template.js';

/** What asking the vendor whether the effect exists came to. */
export type LookedUp =
  | Looked
  /** The address can't be filled in, so nobody was asked. */
  | { readonly kind: 'no_address' }
  /** The process goes; what the answer would have been is not known. */
  | { readonly kind: 'abandoned' };

/** Asks the vendor once, by whatever the compensation names, whether the forward call took effect. */
export async function lookUp(client: VendorClient, call: UndoCall, signal: AbortSignal): Promise<LookedUp> {
  const lookup = call.spec.lookup!;
  const url = fillTemplate(lookup.url, call);
  if (url === undefined) return { kind: 'no_address' };
  const looked = judgeLookup(await client.ask(url, call, call.spec.timeout_ms, signal), lookup);
  return looked.kind === 'failed' && signal.aborted ? { kind: 'abandoned' } : looked;
}
