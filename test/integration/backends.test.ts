import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, onTestFinished, vi } from 'vitest';
import type { BackendServer } from '@undolog/backends/backend-server';
import { freshDatabase } from '@undolog/backends/fresh-database';
import { resolveBackends } from '@undolog/backends/resolve';
import { startPostgres } from '@undolog/backends/start-postgres';
import { startRedis } from '@undolog/backends/start-redis';
import { bare, listens, redisOnce, sql } from '../support/look-at-backends.js';

// A machine that is busy with other test files takes its time to make a Postgres.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let postgres: BackendServer;
let redis: BackendServer | undefined;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres({ env: bare() }), startRedis({ env: bare() })]);
});

afterAll(async () => {
  await Promise.all([postgres.remove(), redis?.remove()]);
});

describe('a Postgres of our own', () => {
  test('keeps what it has committed through a SIGKILL and comes back under the same URL', async () => {
    await sql(postgres.url, 'CREATE TABLE kept (n int)');
    await sql(postgres.url, 'INSERT INTO kept VALUES (41)');
    await postgres.stop('SIGKILL');
    await expect(sql(postgres.url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
    await postgres.start();
    expect(await sql(postgres.url, 'SELECT n FROM kept')).toEqual([{ n: 41 }]);
  });

  test('has 200 connections, UTF-8, and no way in without its password', async () => {
    expect(await sql(postgres.url, 'SHOW max_connections')).toEqual([{ max_connections: '200' }]);
    expect(await sql(postgres.url, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
    const stranger = new URL(postgres.url);
    stranger.password = 'guess';
    await expect(sql(stranger.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  test('leaves fsync off unless the caller asks for a durable one', async () => {
    expect(await sql(postgres.url, 'SHOW fsync')).toEqual([{ fsync: 'off' }]);
    const durable = await startPostgres({ env: bare(), durable: true });
    onTestFinished(() => durable.remove());
    expect(await sql(durable.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    expect(await sql(durable.url, 'SHOW full_page_writes')).toEqual([{ full_page_writes: 'on' }]);
  });

  test('gives every caller of freshDatabase an empty database of its own, and drops it under open connections', async () => {
    const [one, two] = await Promise.all([freshDatabase(postgres.url, 'twin'), freshDatabase(postgres.url, 'twin')]);
    await sql(one.url, 'CREATE TABLE only_here (n int)');
    expect(await sql(two.url, `SELECT to_regclass('only_here') AS found`)).toEqual([{ found: null }]);
    const open = new pg.Client({ connectionString: one.url });
    open.on('error', () => undefined);
    await open.connect();
    await Promise.all([one.drop(), two.drop()]);
    expect(await sql(postgres.url, `SELECT datname FROM pg_database WHERE datname LIKE 'twin%'`)).toEqual([]);
  });
});

describe('a Redis of our own', () => {
  test('keeps what it has answered through a SIGKILL and comes back under the same URL', async ({ skip }) => {
    if (redis === undefined) return skip('there is no Redis on this machine');
    const { url } = redis;
    await redisOnce(url, (client) => client.set('kept', '41'));
    await redis.stop('SIGKILL');
    await expect(redisOnce(url, (client) => client.get('kept'))).rejects.toThrow();
    await redis.start();
    expect(await redisOnce(url, (client) => client.get('kept'))).toBe('41');
    expect(await redisOnce(url, (client) => client.config('GET', 'maxmemory-policy'))).toContain('noeviction');
    await expect(redisOnce(url.replace(/:[^:@]+@/, ':guess@'), (client) => client.ping())).rejects.toThrow();
  });
});

describe('resolveBackends', () => {
  test('uses what the environment names, creates nothing there, and leaves it running', async () => {
    const lines: string[] = [];
    const env = bare({ DATABASE_URL: postgres.url, REDIS_URL: redis?.url });
    const before = await sql(postgres.url, 'SELECT datname FROM pg_database ORDER BY 1');
    const backends = await resolveBackends({ env, log: (line) => lines.push(line) });
    expect(backends.databaseUrl).toBe(postgres.url);
    if (redis !== undefined) {
      expect(backends.redisUrl).toBe(redis.url);
      expect(lines.toSorted().map((line) => line.split(',')[0])).toEqual([
        'Postgres: DATABASE_URL',
        'Redis: REDIS_URL',
      ]);
    }
    await backends.stop();
    if (redis !== undefined) expect(await redisOnce(redis.url, (client) => client.ping())).toBe('PONG');
    expect(await sql(postgres.url, 'SELECT datname FROM pg_database ORDER BY 1')).toEqual(before);
    expect(lines).toHaveLength(2);
    expect([...lines, backends.describe].join()).not.toContain(new URL(postgres.url).password);
  });

  test('reports a named backend that does not answer instead of taking another, and shows no password', async () => {
    const env = bare({ DATABASE_URL: 'postgres://someone:hidden@127.0.0.1:1/db' });
    const refusal = resolveBackends({ env, log: () => undefined });
    await expect(refusal).rejects.toThrow(/^DATABASE_URL \(127\.0\.0\.1:1\) does not answer/);
    await expect(refusal).rejects.not.toThrow(/hidden/);
  });

  test('resolves Postgres and Redis each by itself', async () => {
    const env = bare({ DATABASE_URL: postgres.url });
    const backends = await resolveBackends({ env, log: () => undefined });
    onTestFinished(() => backends.stop());
    expect(backends.databaseUrl).toBe(postgres.url);
    if (redis === undefined) expect(backends.redisUrl).toBeUndefined();
    else expect(await redisOnce(backends.redisUrl ?? '', (client) => client.ping())).toBe('PONG');
    expect(backends.redisUrl).not.toBe(redis?.url);
  });

  test('needs no program of the machine: npm brings Postgres, and without apt-get the queue runs on Postgres', async () => {
    const path = await mkdtemp(join(tmpdir(), 'only-node-'));
    onTestFinished(() => rm(path, { recursive: true }));
    await symlink(process.execPath, join(path, 'node'));
    const lines: string[] = [];
    const env = { PATH: path, UNDOLOG_BACKENDS: 'embedded' };
    const backends = await resolveBackends({ env, log: (line) => lines.push(line) });
    expect(await sql(backends.databaseUrl, 'SHOW server_version')).toEqual([{ server_version: '18.4' }]);
    expect(backends.redisUrl).toBeUndefined();
    expect(lines.find((line) => line.startsWith('Redis'))).toMatch(/^Redis: none, the queue runs on Postgres \(/);
    await backends.stop();
    expect(await listens(Number(new URL(backends.databaseUrl).port))).toBe(false);
  });

  test('refuses a way that it does not know', async () => {
    const env = bare({ UNDOLOG_BACKENDS: 'magic' });
    await expect(resolveBackends({ env, log: () => undefined })).rejects.toThrow(/UNDOLOG_BACKENDS is magic/);
  });
});

describe('Redis from packages', () => {
  test('runs without being installed where apt-get can fetch it', { timeout: 180_000 }, async ({ skip }) => {
    const lines: string[] = [];
    const env = bare({ UNDOLOG_BACKENDS: 'embedded' });
    const unpacked = await startRedis({ env, log: (line) => lines.push(line) });
    if (unpacked === undefined) return skip(lines[0]);
    onTestFinished(() => unpacked.remove());
    expect(unpacked.description).toMatch(/redis-\w+\/usr\/bin\/redis-server$/);
    expect(await redisOnce(unpacked.url, (client) => client.ping())).toBe('PONG');
  });
});
