import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createVendorClient, type VendorClient } from '@undolog/shared/vendor/compensation-call';
import { classify } from '@undolog/shared/domain/classify';
import type { Compensation } from '@undolog/shared/domain/compensation';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { OddVendor } from '../support/odd-vendor.js';
import { compensation, undoCall } from '../support/undo-call.js';

let vendor: OddVendor;
let client: VendorClient;
const forEver = new AbortController().signal;

beforeEach(async () => {
  vendor = new OddVendor();
  await vendor.listen();
  client = createVendorClient({ egress: parseEgressPolicy('127.0.0.0/8,::1'), connectionsPerOrigin: 10 });
});

afterEach(async () => {
  await client.close();
  await vendor.close();
});

const send = (path: string, spec: Partial<Compensation> = {}, signal = forEver): Promise<Exchange> =>
  client.call(undoCall(compensation({ url: spec.url ?? vendor.url(path), ...spec })), signal);

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const startedMs = performance.now();
  const result = await work;
  return [result, performance.now() - startedMs];
}

describe('the call', () => {
  test('carries the arguments as its body, the documented headers, and those of the compensation', async () => {
    const headers = { authorization: 'Bearer s', 'X-Latin': 'caf\u00e9' };
    const body = '{"n":9007199254740993,"f":1.0,"s":"\\u0000\\ud800\u00fc"}';
    const spec = compensation({ url: vendor.url('/undo?a=%20b#part'), headers });
    const result = await client.call(undoCall(spec, { body, attempt: 7, outcome: 'unknown' }), forEver);
    expect(result).toEqual({ kind: 'answer', status: 200, body: '{}', retryAfter: undefined });

    expect(vendor.ledger).toHaveLength(1);
    const [seen] = vendor.ledger;
    expect(seen).toMatchObject({ method: 'POST', path: '/undo?a=%20b', body });
    expect(seen!.headers).toEqual({
      host: `127.0.0.1:${vendor.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'idempotency-key': 'undo-01990000-0000-7000-8000-00000000000a',
      'undolog-session-id': 'trip:42',
      'undolog-effect-id': '01990000-0000-7000-8000-00000000000b',
      'undolog-effect-key': 'effect-01990000-0000-7000-8000-00000000000b',
      'undolog-effect-outcome': 'unknown',
      'undolog-attempt': '7',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      authorization: 'Bearer s',
      'x-latin': 'caf\u00e9',
    });
  });

  test('has its body with every method, DELETE too', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const) await send(`/${method}`, { method });
    expect(vendor.ledger.map(({ method, body }) => [method, body])).toEqual(
      ['PUT', 'PATCH', 'DELETE'].map((method) => [method, '{"booking_id":"b-1"}']),
    );
  });

  test('asks the record with GET and the same headers, and without a body', async () => {
    const call = undoCall(compensation({ url: vendor.url('/undo'), headers: { authorization: 'Bearer s' } }));
    await client.ask(vendor.url('/record/b-1'), call, 1000, forEver);
    expect(vendor.ledger).toMatchObject([
      {
        method: 'GET',
        path: '/record/b-1',
        body: '',
        headers: { authorization: 'Bearer s', 'undolog-session-id': 'trip:42' },
      },
    ]);
    expect(vendor.ledger[0]!.headers).not.toHaveProperty('content-length');
  });

  test('C68: follows no redirect, so no key and no password go anywhere else', async () => {
    const elsewhere = new OddVendor();
    await elsewhere.listen();
    for (const status of [301, 302, 303, 304, 307, 308]) {
      vendor.on(`/${status}`, (_request, response) => {
        response.writeHead(status, { location: status === 302 ? '/login' : elsewhere.url('/login') }).end();
      });
      const result = await send(`/${status}`, { headers: { authorization: 'Bearer s' } });
      expect(result).toMatchObject({ kind: 'answer', status });
      expect(classify(result, compensation({ url: '' }).outcomes)).toMatchObject({ kind: 'refused', permanent: true });
    }
    expect(vendor.ledger.map(({ path }) => path)).toEqual(['/301', '/302', '/303', '/304', '/307', '/308']);
    expect(elsewhere.connections).toBe(0);
    await elsewhere.close();
  });

  test('skips answers that are only on the way', async () => {
    vendor.on('/undo', (_request, response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.writeProcessing();
      response.writeHead(503, { 'retry-after': '7' }).end('{"a":1}');
    });
    expect(await send('/undo')).toEqual({ kind: 'answer', status: 503, body: '{"a":1}', retryAfter: '7' });
  });
});

describe('one deadline', () => {
  const timeout = { timeout_ms: 300 };
  const soon = 1000;

  test('C71: covers a body that drips for ever after prompt headers', async () => {
    vendor.on('/drip', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    });
    const [result, tookMs] = await timed(send('/drip', timeout));
    expect(result).toEqual({ kind: 'no_answer', error: 'timeout' });
    expect(tookMs).toBeGreaterThan(250);
    expect(tookMs).toBeLessThan(soon);
  });

  test('covers headers that never come, or come only by half', async () => {
    vendor.on('/hang', () => {});
    vendor.on('/half', (_request, _response, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Ty'));
    for (const path of ['/hang', '/half']) {
      const [result, tookMs] = await timed(send(path, timeout));
      expect(result).toEqual({ kind: 'no_answer', error: 'timeout' });
      expect(tookMs).toBeLessThan(soon);
    }
  });

  test('covers a TLS handshake that nobody answers: nothing was sent', async () => {
    const mute = createServer((socket) => socket.on('error', () => {}).resume());
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const url = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`;
    const [result, tookMs] = await timed(send('', { ...timeout, url }));
    expect(result).toEqual({ kind: 'not_sent', error: 'timeout' });
    expect(tookMs).toBeLessThan(soon);
    mute.close();
  });

  test('closes the connection of a call that it cut off, so that the vendor can notice', async () => {
    vendor.on('/hang', () => {});
    const arrived = vendor.nextRequest();
    const result = send('/hang', timeout);
    const socket = await arrived;
    const closed = once(socket, 'close');
    expect(await result).toMatchObject({ kind: 'no_answer' });
    await closed;
  });
});

describe('a body', () => {
  test('C71: of 20 MB is cut at 64 KiB: the status decides, and the flood stops', async () => {
    function* flood(): Generator<Buffer> {
      for (let written = 0; written < 320; written++) yield Buffer.alloc(64 * 1024, ' ');
    }
    const wasFinished = new Promise((resolve) => {
      vendor.on('/flood', (_request, response) => {
        response.on('close', () => resolve(response.writableFinished));
        Readable.from(flood()).pipe(response.writeHead(409));
      });
    });
    expect(await send('/flood')).toEqual({ kind: 'answer', status: 409, body: undefined, retryAfter: undefined });
    expect(await wasFinished).toBe(false);
  });

  test('is read up to 64 KiB and not one byte more', async () => {
    vendor.on('*', ({ path }, response) => response.end('x'.repeat(Number(path.slice(1)))));
    expect(await send('/65536')).toMatchObject({ kind: 'answer', body: 'x'.repeat(65_536) });
    expect(await send('/65537')).toMatchObject({ kind: 'answer', status: 200, body: undefined });
  });

  test('that nobody asked to compress is unpacked, so that a refusal in it is seen', async () => {
    const refusal = '{"status":"error"}';
    const answers: Record<string, Buffer> = { gzip: gzipSync(refusal), br: brotliCompressSync(refusal) };
    vendor.on('*', ({ path }, response) => {
      response.writeHead(200, { 'content-encoding': path.slice(1) }).end(answers[path.slice(1)]);
    });
    for (const coding of Object.keys(answers)) {
      expect(await send(`/${coding}`)).toMatchObject({ kind: 'answer', status: 200, body: refusal });
    }
  });

  test('C71: that is a gzip bomb, broken, or packed in an unknown way counts as not read', async () => {
    vendor.on('/bomb', (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20 * 1024 * 1024)));
    });
    vendor.on('/broken', (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"status":"error"}');
    });
    vendor.on('/unknown', (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'rot13' }).end('{"fgnghf":"reebe"}');
    });
    for (const path of ['/bomb', '/broken', '/unknown']) {
      expect(await send(path), path).toMatchObject({ kind: 'answer', status: 200, body: undefined });
    }
  });

  test('is JSON behind a byte order mark too', async () => {
    vendor.on('/undo', (_request, response) => response.end('\uFEFF{"status":"error"}'));
    expect(await send('/undo')).toMatchObject({ body: '{"status":"error"}' });
  });
});

describe('the signal of a process that goes', () => {
  test('cuts off what was sent as unknown, and lets nothing new out', async () => {
    vendor.on('/hang', () => {});
    const leaving = new AbortController();
    const arrived = vendor.nextRequest();
    const result = send('/hang', {}, leaving.signal);
    await arrived;
    leaving.abort();
    expect(await result).toEqual({ kind: 'no_answer', error: 'abandoned' });
    expect(await send('/late', {}, leaving.signal)).toEqual({ kind: 'not_sent', error: 'abandoned' });
    expect(vendor.ledger.map(({ path }) => path)).toEqual(['/hang']);
  });

  test('is shared by many calls without a warning, and keeps none of them', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', hear);
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const added = vi.spyOn(signal, 'addEventListener');
    await Promise.all(Array.from({ length: 30 }, (_, index) => send(`/${index}`, {}, signal)));
    await sleep(10);
    process.off('warning', hear);
    expect(warnings).toEqual([]);
    expect(added).toHaveBeenCalledTimes(30);
    expect(removed).toHaveBeenCalledTimes(30);
  });
});
