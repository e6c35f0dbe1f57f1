import { fileURLToPath } from 'node:url';
import { resolve } from 'node:path';
import { Child } from '@undolog/backends/child';
import { freePort } from '@undolog/backends/free-port';
import { nodeArgsFor } from './node-args.js';
import type { HttpDriver } from './http-driver.js';
import type { VendorStats } from './vendor-record.js';
import type { Workplace } from './workplace.js';

export interface Vendor {
  readonly url: string;
  /** Where it comes from, for the result. */
  readonly origin: string;
  stats(): Promise<VendorStats>;
  reset(): Promise<void>;
}

/**
 * The vendor of a run: the one that listens at `url`, else a process of `file` (given its port as the only argument),
 * else our own. All speak the protocol of vendor-main.ts.
 */
export async function startVendor(
  workplace: Workplace,
  driver: HttpDriver,
  named: { readonly url: string | undefined; readonly file: string | undefined },
): Promise<Vendor> {
  const url = named.url ?? (await launch(workplace, named.file));
  const vendor: Vendor = {
    url,
    origin: named.url ?? named.file ?? 'own',
    stats: async () => (await driver.mustSend('GET', url, '/stats')) as VendorStats,
    reset: async () => void (await driver.mustSend('POST', url, '/reset', {})),
  };
  await vendor.reset();
  return vendor;
}

async function launch(workplace: Workplace, file: string | undefined): Promise<string> {
  const port = await freePort();
  const script = file === undefined ? fileURLToPath(new URL('vendor-main.ts', import.meta.url)) : undefined;
  const args = script === undefined ? [resolve(file!)] : nodeArgsFor(script);
  const start = { name: 'vendor', args: [...args, String(port)], env: process.env, logDirectory: workplace.folder };
  const child = new Child(start);
  workplace.onLeave(() => child.stop());
  const url = `http://127.0.0.1:${port}`;
  await child.untilReady(`${url}/stats`);
  return url;
}
