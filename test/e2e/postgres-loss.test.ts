import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@undolog/backends/start-postgres';
import type { BackendServer } from '@undolog/backends/backend-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Answer, type Org } from '../support/api-client.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { openWorld, type World } from '../support/world.js';

/** 2 s are promised; the rest is for a machine that runs other tests. */
const ANSWER_LIMIT_MS = 2500;
const BACK_LIMIT_MS = 5000;

describe('Postgres lost', () => {
  let server: BackendServer;
  let apiHop: FaultProxy;
  let world: World;
  let org: Org;
  beforeAll(async () => {
    server = await startPostgres();
    world = await openWorld({
      name: 'postgres_loss',
      databaseServerUrl: server.url,
      apiEnv: async (databaseUrl) => {
        apiHop = new FaultProxy(databaseUrl);
        await apiHop.listen();
        return { DATABASE_URL: apiHop.url };
      },
    });
    org = await world.newOrg();
  });
  afterAll(async () => {
    await world.close();
    await apiHop.close();
    await server.remove();
  });

  async function expectUnavailable(requests: Promise<Answer>[]): Promise<void> {
    for (const answer of await Promise.all(requests)) {
      expect([answer.status, bodyOf(answer)['code']]).toEqual([503, 'unavailable']);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.tookMs).toBeLessThan(ANSWER_LIMIT_MS);
    }
  }

  it.each(['cut', 'black_hole', 'lose_answers'] as const)(
    'to a %s: every route says 503 in time, and a repeat finds what had been committed after all',
    async (fault) => {
      const session = await org.open();
      const path = `/db-${fault}`;
      const register = (): Promise<Answer> => session.tryRegister(path, { call_id: 'the call', args: { ref: 'r' } });
      await org.compensation(path);
      apiHop.fault = fault;
      await expectUnavailable([
        register(),
        org.post('/v1/sessions'),
        org.request('GET', session.path),
        org.post(`${session.path}/fail`, { reason: 'x' }),
        org.request('GET', '/v1/dead-letters'),
      ]);
      expect((await world.api.readiness()).status).toBe(503);
      apiHop.fault = 'pass';
      await expect.poll(() => world.api.readiness().then(({ status }) => status), { timeout: BACK_LIMIT_MS }).toBe(200);
      const again = await register();
      // Either it had been committed, by the lost registration or before the lost failure, or it is done now.
      expect([200, 201, 409]).toContain(again.status);
      const entries = await session.stack();
      expect(entries.length).toBe(again.status === 409 ? entries.length : 1);
      expect(entries.length).toBeLessThanOrEqual(1);
      await session.fail();
      await session.reaches('compensated');
      expect(session.undos()).toHaveLength(entries.length);
    },
  );

  it('in the middle of transactions: each is told 503, the next succeed, and the process lives on (C90)', async () => {
    const session = await org.booked(['/db-mid']);
    for (const afterMs of [100, 250, 400]) {
      apiHop.delayMs = 100;
      const requests = Array.from({ length: 12 }, (_, n) =>
        n % 2 === 0 ? session.tryRegister('/db-mid') : org.post('/v1/keys', { role: 'agent' }),
      );
      await sleep(afterMs);
      apiHop.fault = 'cut';
      await expectUnavailable(requests);
      apiHop.delayMs = 0;
      apiHop.fault = 'pass';
      await expect.poll(() => world.api.readiness().then(({ status }) => status), { timeout: BACK_LIMIT_MS }).toBe(200);
    }
    expect(world.api.died).toBeUndefined();
  });

  it('by kill -9 in the middle of unwinds: all of them end, in order, nothing under a second key (C16)', async () => {
    world.vendor.always('/db-killed', { delayMs: 150 });
    const sessions = await Promise.all(
      Array.from({ length: 8 }, () => org.booked(['/db-killed', '/db-killed', '/db-killed', '/db-killed'])),
    );
    await Promise.all(sessions.map((session) => session.fail()));
    await expect.poll(() => world.vendor.ledger.at('/db-killed').length, { timeout: 10_000 }).toBeGreaterThan(6);
    await server.stop('SIGKILL');
    await expectUnavailable([org.post('/v1/sessions'), org.request('GET', sessions[0]!.path)]);
    expect((await world.compensator.readiness()).status).toBe(503);
    await server.start();
    for (const session of sessions) await session.reaches('compensated', 30_000);
    for (const session of sessions) {
      expect(await session.faults()).toEqual([]);
      expect(new Set(await session.calledPositions())).toEqual(new Set([4, 3, 2, 1]));
      expect(session.standing()).toEqual([]);
    }
    expect((await world.api.readiness()).status).toBe(200);
    expect((await world.compensator.readiness()).status).toBe(200);
  });
});
