import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, type ConnectionPool, type PooledClient } from '@undolog/receiver';
import { toExpress } from '@undolog/receiver/express';
import { toFetch } from '@undolog/receiver/fetch';
import { toHono } from '@undolog/receiver/hono';
import express from 'express';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { send, signedCall, SIGNING_SECRET, type SignedCall } from '../support/signed-call.js';

const OTHER_SECRET = `whsec_${Buffer.from('the secret of somebody else').toString('base64')}`;
const MINUTE_MS = 60_000;

/** A database that can't be reached: whoever gets as far as it was let in, and is told 503. */
const nowhere: ConnectionPool<PooledClient> = {
  query: () => Promise.reject(new Error('reached the database')),
  connect: () => Promise.reject(new Error('reached the database')),
};
const LET_IN = 503;

function receive(secrets: readonly string[] = [SIGNING_SECRET]): { handle: (call: SignedCall) => Promise<Response> } {
  const receiver = createReceiver({ pool: nowhere, secrets, onError: () => undefined });
  const handle = toFetch(receiver.inTransaction(() => Promise.reject(new Error('never runs'))));
  return { handle: (call) => handle(new Request('http://vendor/cancel', { method: 'POST', ...call })) };
}

async function codeOf(answer: Response): Promise<unknown> {
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  return [answer.status, ((await answer.json()) as { code: string }).code];
}

describe('the signature', () => {
  test('lets in what was signed with any of the secrets', async () => {
    const { handle } = receive([OTHER_SECRET, SIGNING_SECRET]);
    expect((await handle(signedCall())).status).toBe(LET_IN);
    expect((await handle(signedCall({ secret: OTHER_SECRET }))).status).toBe(LET_IN);
  });

  test('made with no known secret, missing, or of another body is refused', async () => {
    const { handle } = receive();
    const call = signedCall();
    const { 'webhook-signature': _dropped, ...unsigned } = call.headers;
    const refused = [
      signedCall({ secret: OTHER_SECRET }),
      { ...call, headers: unsigned },
      { ...call, body: call.body.replace('b1', 'b2') },
      // The same value, but not the same bytes.
      { ...call, body: ` ${call.body}` },
    ];
    for (const one of refused) expect(await codeOf(await handle(one))).toEqual([401, 'signature_invalid']);
  });

  test('is good for five minutes, before and after', async () => {
    const { handle } = receive();
    for (const minutes of [-4, 4]) {
      expect((await handle(signedCall({ at: new Date(Date.now() + minutes * MINUTE_MS) }))).status).toBe(LET_IN);
    }
    for (const minutes of [-6, 6]) {
      const answer = await handle(signedCall({ at: new Date(Date.now() + minutes * MINUTE_MS) }));
      expect(await codeOf(answer)).toEqual([401, 'signature_invalid']);
    }
  });

  test('does not cover another key: a captured call sent again under a new key is refused', async () => {
    const answer = await receive().handle(signedCall({ key: 'undo-new', signedId: 'undo-captured' }));
    expect(await codeOf(answer)).toEqual([401, 'key_not_signed']);
  });

  test('is needed: there is no receiver without a secret', () => {
    expect(() => createReceiver({ pool: nowhere, secrets: [] })).toThrow('at least one signing secret');
  });
});

describe('a signed call', () => {
  test('without a key, or that is not JSON, is refused', async () => {
    const { handle } = receive();
    const { 'idempotency-key': _key, ...keyless } = signedCall().headers;
    expect(await codeOf(await handle({ body: '{}', headers: keyless }))).toEqual([400, 'key_missing']);
    expect(await codeOf(await handle(signedCall({ body: '{"a":' })))).toEqual([400, 'not_json']);
  });
});

describe('the raw body', () => {
  const made = createReceiver({ pool: nowhere, secrets: [SIGNING_SECRET], onError: () => undefined });
  const endpoint = made.inTransaction(() => Promise.reject(new Error('never runs')));

  async function served(listener: RequestListener, call: SignedCall): Promise<Response> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      return await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/cancel`, call);
    } finally {
      server.close();
    }
  }

  const untouched = express().post('/cancel', toExpress(endpoint));
  const raw = express()
    .use(express.raw({ type: '*/*' }))
    .post('/cancel', toExpress(endpoint));
  const parsed = express().use(express.json()).post('/cancel', toExpress(endpoint));
  const keeps: express.Express = express()
    .use(express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) }))
    .post('/cancel', toExpress(endpoint));

  test('is read by the adapter, or taken from express.raw or a parser that kept it', async () => {
    const nodeOnly: RequestListener = (request, response) => void toExpress(endpoint)(request, response);
    for (const app of [untouched, raw, keeps, nodeOnly]) {
      expect((await served(app as RequestListener, signedCall({ body: { text: 'ä 1.0' } }))).status).toBe(LET_IN);
    }
  });

  test('that a parser has consumed is a clear error, in Express, Hono and Fetch', async () => {
    const call = signedCall();
    const answer = await served(parsed as RequestListener, call);
    expect(await codeOf(answer)).toEqual([500, 'raw_body_missing']);
    const hono = new Hono();
    hono.use(async (context, next) => {
      await context.req.json();
      await next();
    });
    hono.post('/cancel', toHono(endpoint));
    expect(await codeOf(await hono.request('/cancel', { method: 'POST', ...call }))).toEqual([500, 'raw_body_missing']);
    const request = new Request('http://vendor/cancel', { method: 'POST', ...call });
    await request.json();
    expect(await codeOf(await toFetch(endpoint)(request))).toEqual([500, 'raw_body_missing']);
  });

  test('is read up to what UndoLog sends at most', async () => {
    const body = JSON.stringify('a'.repeat(8 * 1024 * 1024));
    const hono = new Hono().post('/cancel', toHono(endpoint));
    const answer = await hono.request('/cancel', { method: 'POST', body, headers: signedCall().headers });
    expect(await codeOf(answer)).toEqual([413, 'body_too_large']);
  });
});
