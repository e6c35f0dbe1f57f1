import type { Exchange } from '@undolog/shared/domain/verdict';
import type { Tried } from './call-vendor.js';
import type { VendorClient } from '@undolog/shared/vendor/compensation-call';

/** What a step says of the host that it called; `failed`: no whole answer came, or one of 5xx. */
export type Evidence = 'answered' | 'failed' | 'none';

function isFailure(exchange: Exchange): boolean {
  if (exchange.kind === 'answer') return exchange.status >= 500;
  return exchange.kind !== 'blocked';
}

/** The same client, which remembers whether the host failed to answer the last question that it was asked. */
export function watchHost(client: VendorClient, host: string): { client: VendorClient; lastAskFailed(): boolean } {
  let failed = false;
  const ask: VendorClient['ask'] = async (url, ...rest) => {
    const exchange = await client.ask(url, ...rest);
    if (new URL(url).origin === host) failed = isFailure(exchange);
    return exchange;
  };
  return { client: { ...client, ask }, lastAskFailed: () => failed };
}

/** Whether a look for the effect was all there was, and it failed. */
function lookupFailed({ settlement }: NonNullable<Tried>): boolean {
  if (settlement.kind === 'retry') return settlement.looked === 'failed';
  return settlement.kind === 'settled' && settlement.state === 'unconfirmed' && settlement.code === 'lookup_failed';
}

/**
 * A call counts by what it means to the compensation: a 500 that `outcomes` takes for a refusal is an answer. Of the
 * questions only a look for the effect counts, as it alone has a budget; it is nothing but answered or not.
 */
export function evidenceOf(tried: Tried, lastAskFailed: boolean): Evidence {
  if (!tried) return 'none';
  const { attempt } = tried;
  if (attempt === null) return lastAskFailed && lookupFailed(tried) ? 'failed' : 'none';
  // A stored answer tells how the host was when it was stored.
  if (attempt.error === 'abandoned' || attempt.error === 'replayed') return 'none';
  if (attempt.status !== null) return attempt.status >= 500 && attempt.outcome === 'unknown' ? 'failed' : 'answered';
  return attempt.outcome === 'refused' ? 'none' : 'failed';
}
