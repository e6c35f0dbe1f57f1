import { fileURLToPath } from 'node:url';
import { Child } from '@undolog/backends/child';
import { VENDOR_KINDS, type LedgerLine, type Ledgers, type VendorKind } from './ledger.js';
import { requestJson } from './request-json.js';

export type VendorUrls = Readonly<Record<VendorKind, string>>;

export interface Vendors {
  readonly urls: VendorUrls;
  ledgers(): Promise<Ledgers>;
  /** Takes the hotel's cancel endpoint down after so many more cancellations. */
  takeHotelCancellationsDown(afterCancellations: number): Promise<void>;
  bringHotelCancellationsUp(): Promise<void>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 20_000;

/** Starts one process per vendor, with empty books. */
export async function startVendors(o: {
  readonly run: string;
  readonly soldOutTrips: readonly string[];
  readonly logDirectory: string;
}): Promise<Vendors> {
  const children = VENDOR_KINDS.map((kind) => ({ kind, child: spawnVendor(kind, o.run, o.logDirectory) }));
  const stop = async (): Promise<void> => {
    await Promise.all(children.map(({ child }) => child.stop()));
  };
  try {
    const started = await Promise.all(
      children.map(async ({ kind, child }) => {
        child.writeLine(JSON.stringify({ kind, soldOutTrips: kind === 'car' ? o.soldOutTrips : [] }));
        const { port } = JSON.parse(await child.firstLine(START_TIMEOUT_MS)) as { port: number };
        return [kind, `http://127.0.0.1:${port}`] as const;
      }),
    );
    const urls = Object.fromEntries(started) as VendorUrls;
    const control = (body: unknown): Promise<unknown> =>
      callVendor('POST', `${urls.hotel}/control/cancel-endpoint`, body);
    return {
      urls,
      ledgers: () => readLedgers(urls),
      takeHotelCancellationsDown: async (afterCancellations) => {
        await control({ up: false, after_cancellations: afterCancellations });
      },
      bringHotelCancellationsUp: async () => {
        await control({ up: true });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function spawnVendor(kind: VendorKind, run: string, logDirectory: string): Child {
  const script = fileURLToPath(new URL('./vendor-main.ts', import.meta.url));
  const name = `${run}-${kind}-vendor`;
  return new Child({ name, args: ['--import', 'tsx', script], env: process.env, logDirectory, speaks: true });
}

async function readLedgers(urls: VendorUrls): Promise<Ledgers> {
  const read = VENDOR_KINDS.map(async (kind) => {
    const body = (await callVendor('GET', `${urls[kind]}/ledger`)) as { lines: LedgerLine[] };
    return [kind, body.lines] as const;
  });
  return Object.fromEntries(await Promise.all(read)) as unknown as Ledgers;
}

async function callVendor(method: 'GET' | 'POST', url: string, body?: unknown): Promise<unknown> {
  const answer = await requestJson(method, url, body === undefined ? {} : { body });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  return answer.body;
}
