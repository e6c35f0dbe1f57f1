import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageRouter } from '@undolog/api/dashboard/page-router';
import { underPolicy } from '@undolog/api/dashboard/policy';

/** As Vite writes it. */
const ASSET = 'assets/main-Bq3x_f1a.js';

describe('the files of the web page', () => {
  let folder: string;
  let server: Server;
  const get = (path: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);

  beforeAll(async () => {
    const parent = await mkdtemp(join(tmpdir(), 'page-'));
    folder = join(parent, 'dist');
    await mkdir(join(folder, 'assets'), { recursive: true });
    await writeFile(join(parent, 'outside.txt'), 'not for anybody');
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>UndoLog</title>');
    await writeFile(join(folder, 'favicon.svg'), '<svg/>');
    await writeFile(join(folder, ASSET), 'run()');
    server = express().use(underPolicy(), pageRouter(folder)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(join(folder, '..'), { recursive: true });
  });

  test('come under a policy that allows nothing inline and nothing from elsewhere', async () => {
    for (const path of ['/dashboard', '/dashboard/sessions/s-1', `/dashboard/${ASSET}`]) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none';script-src 'self';style-src 'self';img-src 'self' data:;connect-src 'self';" +
          "font-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      );
      expect(headers.get('permissions-policy')).toContain('camera=()');
      expect({
        nosniff: headers.get('x-content-type-options'),
        referrer: headers.get('referrer-policy'),
        opener: headers.get('cross-origin-opener-policy'),
      }).toEqual({ nosniff: 'nosniff', referrer: 'no-referrer', opener: 'same-origin' });
    }
  });

  test('are the document at every address of a page, asked for each time', async () => {
    for (const path of ['', '/', '/sessions', '/sessions/a.b', '/sessions/..%2F..%2Foutside.txt', '/sessions/.x']) {
      const response = await get(`/dashboard${path}`);
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
      expect(await response.text()).toContain('<title>UndoLog');
    }
    expect((await get('/dashboards')).status).toBe(404);
  });

  test('are kept by browsers where their name holds their hash, and only there', async () => {
    const asset = await get(`/dashboard/${ASSET}`);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect([asset.headers.get('content-type'), await asset.text()]).toEqual([
      'text/javascript; charset=utf-8',
      'run()',
    ]);
    expect((await get('/dashboard/favicon.svg')).headers.get('cache-control')).toBe('no-cache');
    const gone = await get('/dashboard/assets/main-of-the-last-version.js');
    expect([gone.status, gone.headers.get('cache-control')]).toEqual([404, 'no-store']);
  });

  test('are missed in plain words where the page was not built', async () => {
    await rm(join(folder, 'index.html'));
    const response = await get('/dashboard');
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8']);
    expect(await response.text()).toContain('not built');
  });
});
