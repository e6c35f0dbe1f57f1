import { once } from 'node:events';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createVendorClient, type VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { parseEgressPolicy, type ResolveName } from '@undolog/shared/runtime/egress-policy';
import { OddVendor } from '../support/odd-vendor.js';
import { compensation, undoCall } from '../support/undo-call.js';

const neverResolves: ResolveName = () => new Promise(() => {});

let vendor: OddVendor;
let client: VendorClient;

beforeEach(async () => {
  vendor = new OddVendor();
  await vendor.listen();
  client = createVendorClient({ egress: parseEgressPolicy('127.0.0.1', neverResolves), connectionsPerOrigin: 60 });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await client.close();
  await vendor.close();
});

const send = (url: string, timeoutMs = 3000): Promise<Exchange> =>
  client.call(undoCall(compensation({ url, timeout_ms: timeoutMs })), new AbortController().signal);

/** What every socket says of its peer; `remoteAddress` itself can't be replaced, so this is what it reads. */
function peerIs(address: string | undefined): void {
  const sockets = Socket.prototype as unknown as { _getpeername(): { address?: string } };
  vi.spyOn(sockets, '_getpeername').mockReturnValue(address === undefined ? {} : { address });
}

describe('the peer of a connection', () => {
  test('C108: is judged once more when it is there, and another than the judged address gets no request', async () => {
    peerIs('10.0.0.5');
    expect(await send(vendor.url('/undo'))).toEqual({ kind: 'blocked', error: 'url_not_allowed' });
    expect(vendor.connections).toBe(1);
    expect(vendor.ledger).toEqual([]);
  });

  test('that is gone before it could be judged has refused nothing for good: the try did nothing', async () => {
    peerIs(undefined);
    expect(await send(vendor.url('/undo'))).toEqual({ kind: 'not_sent', error: 'ECONNRESET' });
    expect(vendor.ledger).toEqual([]);
  });

  test('that resets whoever connects never counts as an address that is not allowed', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}).resetAndDestroy());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const all = await Promise.all(Array.from({ length: 50 }, () => send(`http://127.0.0.1:${port}/undo`)));
    server.close();
    for (const one of all) {
      expect(['not_sent', 'no_answer']).toContain(one.kind);
      expect(one).toHaveProperty('error', 'ECONNRESET');
    }
  });
});

test('C73: a resolver that never answers uses up the one deadline of the call, and nothing was sent', async () => {
  const startedMs = performance.now();
  expect(await send(`http://vendor.test:${vendor.port}/undo`, 300)).toEqual({ kind: 'not_sent', error: 'timeout' });
  expect(performance.now() - startedMs).toBeLessThan(1500);
  expect(vendor.connections).toBe(0);
});
