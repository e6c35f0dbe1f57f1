import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeKey } from '@undolog/api/api-key';
import { DatabaseUnavailable } from '@undolog/shared/store/database';
import type { RegisterEffect } from '@undolog/shared/store/register-effect';
import { ADMIN_TOKEN, stage, type CallOptions } from '../support/api-stage.js';

const SESSION = '/v1/sessions/s-1';

const nothing = (): never => {
  throw new Error('nothing should have been written');
};

describe('who may come in', () => {
  test('is asked for a key before being told what exists', async () => {
    const { call } = await stage(nothing);
    for (const path of ['/v1/sessions', '/v1/no-such-route', '/v1/sessions/%ff']) {
      for (const key of [undefined, 'ul_nope', makeKey().apiKey]) {
        const answer = await call('GET', path, key === undefined ? {} : { key });
        expect([path, answer.status, answer.json['code']]).toEqual([path, 401, 'unauthorized']);
      }
    }
  });

  test('is told of the wrong role before anything is looked up or read', async () => {
    const { call, keys, lookUps } = await stage(nothing);
    const tries = [
      ['POST', '/v1/sessions', keys.operator],
      ['GET', '/v1/dead-letters/nope', keys.agent],
      ['DELETE', '/v1/keys/nope', keys.operator],
      ['PUT', '/v1/compensations/x/1', keys.agent],
    ] as const;
    for (const [method, path, key] of tries) {
      const answer = await call(method, path, { key, ...(method === 'POST' ? { body: '{' } : {}) });
      expect([path, answer.status, answer.json['code']]).toEqual([path, 403, 'forbidden']);
    }
    expect(lookUps).toHaveLength(tries.length);
  });

  test('loses a revoked key with the next request', async () => {
    const { call, keys, revoke } = await stage(nothing);
    expect((await call('GET', '/v1/nope', { key: keys.agent })).status).toBe(404);
    revoke(keys.agent);
    expect((await call('GET', '/v1/nope', { key: keys.agent })).status).toBe(401);
  });

  test('shares one look-up among requests that come together', async () => {
    const { call, keys, lookUps } = await stage(nothing);
    await Promise.all(Array.from({ length: 30 }, () => call('GET', '/v1/nope', { key: keys.agent })));
    expect(lookUps.length).toBeLessThan(15);
    expect(Math.max(...lookUps)).toBe(1);
  });

  test('makes orgs with the admin token only, never with a key of an org', async () => {
    const { call, keys } = await stage(() => undefined);
    const make = (key?: string) => call('POST', '/v1/orgs', { body: { name: 'acme' }, ...(key ? { key } : {}) });
    for (const key of [undefined, keys.admin, 'wrong', `${ADMIN_TOKEN}x`]) expect((await make(key)).status).toBe(401);
    const made = await make(ADMIN_TOKEN);
    expect(made.status).toBe(201);
    expect(made.json['api_key']).toMatch(/^ul_[\w-]{43}$/);
    const closed = await stage(nothing, { adminToken: undefined });
    expect((await closed.call('POST', '/v1/orgs', { body: { name: 'x' }, key: 'undefined' })).status).toBe(401);
  });

  test('is limited per key where a limit is set', async () => {
    const { call, keys } = await stage(nothing, { rateLimitPerSecond: 3 });
    const statuses = (key: string) =>
      Promise.all(Array.from({ length: 10 }, async () => (await call('GET', '/v1/nope', { key })).status));
    const seen = await statuses(keys.agent);
    expect(seen.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
    expect((await call('GET', '/v1/nope', { key: keys.admin })).status).toBe(404);
  });
});

describe('a body', () => {
  test('C105: is JSON in UTF-8 of at most 8 MiB, or refused as a problem without a stack', async () => {
    const { call, keys } = await stage(nothing);
    const deep = `{"metadata":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const bad: [CallOptions['body'], number, string, Record<string, string>?][] = [
      ['', 400, 'invalid_json'],
      ['{', 400, 'invalid_json'],
      ['\ufeff{}', 400, 'invalid_json'],
      ["{'a':1}", 400, 'invalid_json'],
      [new Uint8Array([0x22, 0xff, 0x22]), 400, 'invalid_json'],
      [new Uint8Array([0x1f, 0x8b, 8, 0, 0]), 400, 'invalid_json', { 'content-encoding': 'gzip' }],
      ['{"agent_name":"a","agent_name":"b"}', 400, 'duplicate_key'],
      [deep, 400, 'too_deep'],
      ['[]', 400, 'invalid_request'],
      ['null', 400, 'invalid_request'],
      ['{"__proto__":{"isAdmin":true}}', 400, 'invalid_request'],
      ['{}', 415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
      ['{}', 415, 'unsupported_media_type', { 'content-type': 'application/json; charset=utf-16' }],
      ['{}', 415, 'unsupported_media_type', { 'content-encoding': 'br' }],
      [`{"metadata":"${'x'.repeat(20_000_000)}"}`, 413, 'body_too_large'],
      [gzipSync(Buffer.alloc(20_000_000, 32)), 413, 'body_too_large', { 'content-encoding': 'gzip' }],
    ];
    for (const [body, status, code, headers] of bad) {
      const answer = await call('POST', '/v1/sessions', {
        key: keys.agent,
        body: body!,
        ...(headers ? { headers } : {}),
      });
      const what = typeof body === 'string' ? body.slice(0, 30) : code;
      expect([what, answer.status, answer.json['code'], answer.json['status']]).toEqual([what, status, code, status]);
      expect([what, answer.headers.get('content-type')]).toEqual([what, 'application/problem+json']);
      expect(`${what}: ${answer.text}`).not.toMatch(/\bat .*:\d+:\d+|node_modules/);
    }
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  test('names each field that is wrong by its JSON pointer', async () => {
    const { call, keys } = await stage(nothing);
    const body = { tool_name: 7, args: {}, effect_class: 'safe', 'a/b': 1 };
    const { json } = await call('POST', `${SESSION}/effects`, { key: keys.agent, body });
    const errors = json['errors'] as { path: string }[];
    expect(errors.map(({ path }) => path).toSorted()).toEqual(['/a~1b', '/tool_name']);
  });

  test('may be absent only where that means an empty one', async () => {
    const { call, keys } = await stage((name) =>
      name === 'heartbeat' ? { outcome: 'renewed', leaseExpiresAt: null } : nothing(),
    );
    expect((await call('POST', `${SESSION}/heartbeat`, { key: keys.agent })).json).toEqual({ lease_expires_at: null });
    expect((await call('POST', `${SESSION}/fail`, { key: keys.agent })).status).toBe(400);
  });

  test('hands over arguments letter by letter, and gzip counts as what is in it', async () => {
    const { call, keys, performed } = await stage(() => ({ outcome: 'session_not_found' }));
    const args = String.raw`{"b":1.0,"a":9007199254740993,"10":"\ud800\u0000","__proto__":{"x":1}}`;
    const compensation = `{"fn_name":"c","version":"1","args":{"all":{"$args":""},"n":{"$args":"/b"}}}`;
    const body = `{ "tool_name":"t", "args" : ${args},"effect_class":"compensable","compensation":${compensation}}`;
    const headers = { 'content-encoding': 'gzip' };
    const answer = await call('POST', `${SESSION}/effects`, { key: keys.agent, body: gzipSync(body), headers });
    expect([answer.status, answer.json['decision']]).toEqual([404, 'refuse']);
    const input = performed[0]!.input as RegisterEffect;
    expect(input.args.text).toBe(args);
    expect(input.compensation?.args.text).toBe(`{"all":${args},"n":1.0}`);
  });
});

describe('an answer', () => {
  test('never shows what went wrong inside', async () => {
    const { call, keys, logged } = await stage(() => {
      throw new Error('relation "hunter2" does not exist');
    });
    const answer = await call('POST', '/v1/sessions', { key: keys.agent, body: {} });
    expect([answer.status, answer.json['code']]).toEqual([500, 'internal']);
    expect(answer.text).not.toContain('hunter2');
    expect(logged.join()).toContain(answer.headers.get('x-request-id'));
  });

  test('is 503 with Retry-After when Postgres is lost, within two seconds also when it only hangs', async () => {
    const lost = await stage(() => {
      throw new DatabaseUnavailable('lost');
    });
    const hung = await stage(() => new Promise(() => undefined));
    const started = performance.now();
    for (const { call, keys } of [lost, hung]) {
      const answer = await call('POST', '/v1/sessions', { key: keys.agent, body: {} });
      expect([answer.status, answer.json['code']]).toEqual([503, 'unavailable']);
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('is 404 for ids that cannot exist and 405 with the methods that do', async () => {
    const { call, keys } = await stage(nothing);
    for (const path of [`/v1/sessions/${'x'.repeat(201)}`, '/v1/sessions/%00', '/v1/dead-letters/nope', '/v1/nope']) {
      expect([path, (await call('GET', path, { key: keys.admin })).status]).toEqual([path, 404]);
    }
    const answer = await call('DELETE', '/v1/sessions', { key: keys.admin });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST, GET']);
    expect((await call('GET', '/v1/sessions/%ff', { key: keys.admin })).status).toBe(400);
  });

  test('comes with a word to the queue only when a failure was committed', async () => {
    const wake = { orgId: 'org', sessionId: 's-1', undoId: 'u', fence: 1 };
    const { call, keys, woken } = await stage(() => ({ outcome: 'accepted', state: 'failed', wake }));
    const answer = await call('POST', `${SESSION}/fail`, { key: keys.agent, body: { reason: 'x' } });
    expect([answer.status, answer.json]).toEqual([202, { session_id: 's-1', state: 'failed' }]);
    expect(woken).toEqual([wake]);
    const refused = await stage(() => ({ outcome: 'session_completed' }));
    await refused.call('POST', `${SESSION}/fail`, { key: refused.keys.agent, body: { reason: 'x' } });
    expect(refused.woken).toEqual([]);
  });

  test('C104: refuses Idempotency-Keys that are no visible ASCII of 1 to 255 characters', async () => {
    const { call, keys } = await stage(nothing);
    for (const key of ['', 'a b', 'k'.repeat(256), 'k'.repeat(10_000), 'schlüssel']) {
      const answer = await call('POST', '/v1/sessions', {
        key: keys.agent,
        body: {},
        headers: { 'idempotency-key': key },
      });
      expect([key.slice(0, 10), answer.status, answer.json['code']]).toEqual([
        key.slice(0, 10),
        400,
        'invalid_idempotency_key',
      ]);
    }
  });
});

describe('the open pages', () => {
  test('describe every route that is served, in OpenAPI 3.1', async () => {
    const { call } = await stage(nothing);
    const { json } = await call('GET', '/openapi.json');
    const paths = json['paths'] as Record<string, Record<string, { responses: object }>>;
    expect(json['openapi']).toBe('3.1.0');
    expect(Object.keys(paths)).toContain('/v1/sessions/{session_id}/effects');
    expect(Object.keys(paths['/v1/sessions/{session_id}/effects']!['post']!.responses)).toEqual(
      expect.arrayContaining(['200', '201', '400', '401', '403', '404', '409', '413', '415', '422', '503']),
    );
  });

  test('need nothing from another server', async () => {
    const { call } = await stage(nothing);
    const page = await call('GET', '/docs');
    expect(page.text).not.toMatch(/https?:\/\//);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const script = await call('GET', '/docs/scalar.js');
    expect([script.status, script.text.includes('createApiReference')]).toEqual([200, true]);
  });

  test('show health to anyone and metrics to the admin token', async () => {
    const { call, keys } = await stage(nothing);
    expect([(await call('GET', '/healthz')).status, (await call('GET', '/readyz')).status]).toEqual([200, 503]);
    expect((await call('GET', '/metrics', { key: keys.admin })).status).toBe(401);
    const metrics = await call('GET', '/metrics', { key: ADMIN_TOKEN });
    expect([metrics.status, metrics.text.includes('undolog_registrations_total')]).toEqual([200, true]);
  });
});
