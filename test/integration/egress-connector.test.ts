import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createVendorClient, type VendorClient } from '@undolog/shared/vendor/compensation-call';
import type { Exchange } from '@undolog/shared/domain/verdict';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { OddVendor } from '../support/odd-vendor.js';
import { compensation, undoCall } from '../support/undo-call.js';

/** What the resolver says of a name, one answer per question and the last one for ever: addresses, or a failure. */
const names = new Map<string, (string[] | string)[]>();

async function resolve(name: string): Promise<string[]> {
  const answers = names.get(name)!;
  const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
  if (typeof answer === 'string') throw Object.assign(new Error(`${answer} ${name}`), { code: answer });
  return answer;
}

let vendor: OddVendor;
let client: VendorClient;

beforeEach(async () => {
  names.clear();
  vendor = new OddVendor();
  await vendor.listen();
  client = createVendorClient({ egress: parseEgressPolicy('127.0.0.1', resolve), connectionsPerOrigin: 10 });
});

afterEach(async () => {
  await client.close();
});

const send = (url: string, timeoutMs = 5000): Promise<Exchange> =>
  client.call(undoCall(compensation({ url, timeout_ms: timeoutMs })), new AbortController().signal);
const toVendor = (host: string, timeoutMs?: number): Promise<Exchange> =>
  send(`http://${host}:${vendor.port}/undo`, timeoutMs);

const BLOCKED = { kind: 'blocked', error: 'url_not_allowed' };

describe('a name', () => {
  test('C73: that does not resolve sends nothing, tells why, and is called when it resolves again', async () => {
    names.set('flaky.test', ['EAI_AGAIN', 'EAI_AGAIN', ['127.0.0.1']]);
    names.set('gone.test', ['ENOTFOUND']);
    names.set('empty.test', [[]]);
    expect(await toVendor('flaky.test')).toEqual({ kind: 'not_sent', error: 'EAI_AGAIN' });
    expect(await toVendor('flaky.test')).toEqual({ kind: 'not_sent', error: 'EAI_AGAIN' });
    expect(await toVendor('gone.test')).toEqual({ kind: 'not_sent', error: 'ENOTFOUND' });
    expect(await toVendor('empty.test')).toEqual({ kind: 'not_sent', error: 'ENOTFOUND' });
    expect(vendor.connections).toBe(0);
    expect(await toVendor('flaky.test')).toMatchObject({ kind: 'answer', status: 200 });
    expect(vendor.ledger[0]!.headers.host).toBe(`flaky.test:${vendor.port}`);
  });

  test('C73: that resolves to a private address is blocked, which is a reason of its own', async () => {
    names.set('inside.test', [['10.0.0.5']]);
    expect(await toVendor('inside.test')).toEqual(BLOCKED);
  });

  test('C108: is judged by all of its addresses, not by the one that suits', async () => {
    names.set('both.test', [['127.0.0.1', '169.254.169.254']]);
    names.set('mapped.test', [['127.0.0.1', '::ffff:169.254.169.254']]);
    names.set('zone.test', [['127.0.0.1', 'fe80::1%eth0']]);
    for (const name of names.keys()) expect(await toVendor(name), name).toEqual(BLOCKED);
    expect(vendor.connections).toBe(0);
  });

  test('C108: that flips after it was judged leads nowhere: it is resolved once, and that address is called', async () => {
    names.set('rebinding.test', [['127.0.0.1'], ['169.254.169.254']]);
    expect(await toVendor('rebinding.test')).toMatchObject({ kind: 'answer', status: 200 });
    vendor.server.closeAllConnections();
    await vi.waitFor(async () => expect(await toVendor('rebinding.test')).toEqual(BLOCKED));
    expect(vendor.ledger).toHaveLength(1);
  });

  test('of several addresses is called at the next one when one refuses', async () => {
    client = createVendorClient({ egress: parseEgressPolicy('127.0.0.0/8', resolve), connectionsPerOrigin: 10 });
    names.set('many.test', [['127.0.0.2', '127.0.0.1']]);
    expect(await toVendor('many.test')).toMatchObject({ kind: 'answer', status: 200 });
    expect(vendor.ledger).toHaveLength(1);
  });
});

describe('an address', () => {
  test.each(['127.0.0.2', '2130706434', '0x7f000002', '[::1]', '[::ffff:127.0.0.2]', '0.0.0.0', '169.254.169.254'])(
    'C108: %s, which no resolver sees, is judged at the connection too',
    async (host) => {
      expect(await toVendor(host)).toEqual(BLOCKED);
      expect(vendor.connections).toBe(0);
    },
  );

  test('that is allowed is called in every form of it', async () => {
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]']) {
      expect(await toVendor(host), host).toMatchObject({ kind: 'answer', status: 200 });
    }
  });

  test('C108: is not reached by a redirect from an allowed one', async () => {
    vendor.on('/undo', (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end());
    expect(await toVendor('127.0.0.1')).toMatchObject({ kind: 'answer', status: 302 });
    expect(vendor.ledger).toHaveLength(1);
  });
});

describe('TLS', () => {
  const servers: Server[] = [];
  const requests: string[] = [];
  const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');

  /** A server for `secure.test`; both certificates are signed with their own key. */
  async function serve(certificate: 'valid' | 'expired'): Promise<number> {
    const server = createServer({ key: pem('key'), cert: pem(certificate) }, (request, response) => {
      requests.push(`${(request.socket as TLSSocket).servername} ${request.url}`);
      response.end('{}');
    });
    server.on('tlsClientError', () => {});
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** As if the operator's machine trusted it; everything else is judged as ever. */
  function trust(certificate: 'valid' | 'expired'): void {
    const real = tls.connect as (options: ConnectionOptions) => TLSSocket;
    vi.spyOn(tls, 'connect').mockImplementation(((options: ConnectionOptions) =>
      real({ ...options, ca: pem(certificate) })) as typeof tls.connect);
  }

  beforeEach(() => {
    requests.length = 0;
    names.set('secure.test', [['127.0.0.1']]);
    names.set('other.test', [['127.0.0.1']]);
  });

  afterEach(() => {
    vi.restoreAllMocks();
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  test('is spoken in the name of the host, although the connection goes to an address', async () => {
    const port = await serve('valid');
    trust('valid');
    expect(await send(`https://secure.test:${port}/undo`)).toMatchObject({ kind: 'answer', status: 200 });
    expect(requests).toEqual(['secure.test /undo']);
  });

  test('C74: a certificate that is self-signed, expired or of another host sends nothing, and says which', async () => {
    const port = await serve('valid');
    const expiredPort = await serve('expired');
    const notSent = (error: string) => ({ kind: 'not_sent', error });
    for (const host of ['secure.test', '127.0.0.1']) {
      expect(await send(`https://${host}:${port}/undo`)).toEqual(notSent('DEPTH_ZERO_SELF_SIGNED_CERT'));
    }
    trust('expired');
    expect(await send(`https://secure.test:${expiredPort}/undo`)).toEqual(notSent('CERT_HAS_EXPIRED'));
    vi.restoreAllMocks();
    trust('valid');
    for (const host of ['other.test', '127.0.0.1', 'other.test']) {
      expect(await send(`https://${host}:${port}/undo`)).toEqual(notSent('ERR_TLS_CERT_ALTNAME_INVALID'));
    }
    expect(requests).toEqual([]);
  });

  test('that is spoken to a plain server sends no request', async () => {
    const result = await send(`https://127.0.0.1:${vendor.port}/undo`);
    expect(result.kind).toBe('not_sent');
    expect(result).toHaveProperty('error', 'ERR_SSL_WRONG_VERSION_NUMBER');
    expect(vendor.ledger).toEqual([]);
  });
});
