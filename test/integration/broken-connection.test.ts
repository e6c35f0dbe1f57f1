import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVendorClient, type VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { OddVendor } from '../support/odd-vendor.js';
import { compensation, undoCall } from '../support/undo-call.js';

let vendor: OddVendor;
let client: VendorClient;

beforeEach(async () => {
  vendor = new OddVendor();
  await vendor.listen();
  client = createVendorClient({ egress: parseEgressPolicy('127.0.0.0/8'), connectionsPerOrigin: 10 });
});

afterEach(async () => {
  await client.close();
  await vendor.close();
});

const sendTo = (url: string): Promise<Exchange> =>
  client.call(undoCall(compensation({ url })), new AbortController().signal);
const send = (path: string): Promise<Exchange> => sendTo(vendor.url(path));

describe('a connection that breaks', () => {
  test('before it stands has sent nothing', async () => {
    const url = vendor.url('/');
    await vendor.close();
    expect(await sendTo(url)).toEqual({ kind: 'not_sent', error: 'ECONNREFUSED' });
    await vendor.listen();
  });

  test('after the undo was applied is unknown, and the call is not repeated behind our back', async () => {
    let applied = 0;
    vendor.on('/reset', (_request, _response, socket) => {
      applied++;
      socket.resetAndDestroy();
    });
    vendor.on('/close', (_request, _response, socket) => {
      applied++;
      socket.destroy();
    });
    expect(await send('/reset')).toEqual({ kind: 'no_answer', error: 'ECONNRESET' });
    expect(await send('/close')).toEqual({ kind: 'no_answer', error: 'UND_ERR_SOCKET' });
    expect(applied).toBe(2);
    expect(vendor.ledger).toHaveLength(2);
  });

  test('in the middle of headers or of a body is no answer, whatever the status said', async () => {
    vendor.on('/headers', (_request, _response, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-', () => socket.resetAndDestroy());
    });
    vendor.on('/length', (_request, _response, socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}');
    });
    vendor.on('/chunks', (_request, _response, socket) => {
      socket.end('HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n');
    });
    for (const path of ['/headers', '/length', '/chunks']) {
      expect(await send(path), path).toMatchObject({ kind: 'no_answer' });
    }
    expect(vendor.ledger).toHaveLength(3);
  });

  test('ends a body of unknown length properly when the vendor just closes', async () => {
    vendor.on('/undo', (_request, _response, socket) => socket.end('HTTP/1.0 200 OK\r\n\r\n{"a":1}'));
    expect(await send('/undo')).toMatchObject({ kind: 'answer', status: 200, body: '{"a":1}' });
  });

  test('what is no HTTP is unknown', async () => {
    vendor.on('/garbage', (_request, _response, socket) => socket.end('SSH-2.0-OpenSSH_9.2 secret\r\n'));
    vendor.on('/long', (_request, _response, socket) => {
      socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1024 * 1024)}\r\n\r\n`);
    });
    for (const path of ['/garbage', '/long']) {
      const result = await send(path);
      expect(result.kind).toBe('no_answer');
      expect(JSON.stringify(result)).not.toContain('secret');
    }
  });

  test('that was kept and closed by the vendor meanwhile costs no try: a new one is opened', async () => {
    expect(await send('/first')).toMatchObject({ status: 200 });
    await sleep(10);
    expect(await send('/second')).toMatchObject({ status: 200 });
    expect(vendor.connections).toBe(1);
    vendor.server.closeIdleConnections();
    await sleep(50);
    expect(await send('/third')).toMatchObject({ status: 200 });
    expect(vendor.connections).toBe(2);
    expect(vendor.ledger).toHaveLength(3);
  });
});
