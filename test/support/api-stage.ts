import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { hashOfSecret, makeKey } from '@undolog/api/api-key';
import { createApp } from '@undolog/api/app';
import { createHttpServer } from '@undolog/api/http-server';
import type { Resources } from '@undolog/api/resources';
import { parseEgressPolicy } from '@undolog/shared/runtime/egress-policy';
import { createLogger } from '@undolog/shared/runtime/logger';
import { createMetrics } from '@undolog/shared/runtime/metrics';
import { createVault } from '@undolog/shared/runtime/vault';
import type { Database, Statement } from '@undolog/shared/store/database';
import { GroupCommit } from '@undolog/shared/store/group-commit';
import { createVendorClient } from '@undolog/shared/vendor/compensation-call';

export const ADMIN_TOKEN = 'an admin token'.replaceAll(' ', '-');

export interface Stage {
  readonly keys: { readonly agent: string; readonly operator: string; readonly admin: string };
  readonly lookUps: number[];
  readonly performed: { readonly name: string; readonly input: unknown }[];
  readonly woken: unknown[];
  readonly logged: string[];
  revoke(key: string): void;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: string | Uint8Array<ArrayBuffer> | object;
  readonly headers?: Record<string, string>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

const running: Server[] = [];
afterEach(() => {
  for (const server of running.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** The real API in front of a store that is played: `perform` stands for every write. */
export async function stage(
  perform: (name: string) => unknown,
  config: Partial<Resources['config']> = {},
): Promise<Stage> {
  const keys = { agent: makeKey(), operator: makeKey(), admin: makeKey() };
  const good = new Map(
    Object.entries(keys).map(([role, { secretHash }]) => [
      secretHash.toString('hex'),
      { secret_hash: secretHash, role },
    ]),
  );
  const lookUps: number[] = [];
  const performed: Stage['performed'] = [];
  const woken: unknown[] = [];
  const logged: string[] = [];
  const database: Database = {
    vault: createVault(undefined),
    query: async <R extends object>({ name, values }: Statement) => {
      if (name !== 'find_keys') throw new Error(`unexpected statement ${name}`);
      const hashes = values![0] as Buffer[];
      lookUps.push(hashes.length);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const found = hashes.flatMap((hash) => good.get(hash.toString('hex')) ?? []);
      return found.map((row) => ({ ...row, org_id: 'org', key_id: `key-${row.role}` })) as unknown as R[];
    },
    transaction: () => Promise.reject(new Error('no transaction was expected')),
    flight: () => Promise.reject(new Error('no flight was expected')),
    flightInTwo: () => Promise.reject(new Error('no flight was expected')),
    close: () => Promise.resolve(),
  };
  const commits = new GroupCommit(database, { maxFlightsPerOrg: 1, maxInputsPerFlight: 1 });
  commits.submit = (async ({ name }: { name: string }, _orgId: string, input: unknown) => {
    performed.push({ name, input });
    return perform(name);
  }) as never;
  const app = createApp({
    config: { adminToken: ADMIN_TOKEN, rateLimitPerSecond: undefined, trustedProxies: [], ...config },
    logger: createLogger({ service: 'test', level: 'info', destination: { write: (line) => void logged.push(line) } }),
    metrics: createMetrics(),
    database,
    commits,
    queue: { wake: (wakeUp) => void woken.push(wakeUp) },
    faultOfUrl: () => Promise.resolve(undefined),
    vendor: {
      client: createVendorClient({ egress: parseEgressPolicy(''), connectionsPerOrigin: 1 }),
      findCompensation: () => Promise.reject(new Error('no compensation was expected')),
      findCredentials: () => Promise.reject(new Error('no credentials were expected')),
    },
    viewQueues: () => {
      throw new Error('nobody was expected to look at the queues');
    },
    readiness: () => Promise.resolve({ ready: false, body: { status: 'unavailable' } }),
    tracing: undefined,
    closing: new AbortController().signal,
  });
  const server = createHttpServer(app).listen(0, '127.0.0.1');
  running.push(server);
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    keys: { agent: keys.agent.apiKey, operator: keys.operator.apiKey, admin: keys.admin.apiKey },
    lookUps,
    performed,
    woken,
    logged,
    revoke: (key) => void good.delete(hashOfSecret(key).toString('hex')),
    async call(method, path, { key, body, headers = {} } = {}) {
      const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
      const response = await fetch(base + path, {
        method,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
      return { status: response.status, headers: response.headers, text, json };
    },
  };
}
