import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { StreamReader } from '../support/event-stream.js';
import { openWorld, type World } from '../support/world.js';

describe('the stream of an org', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'stream' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const readers: StreamReader[] = [];
  afterEach(() => Promise.all(readers.splice(0).map((reader) => reader.close())));
  async function listen(to: Pick<Org, 'apiKey'> = org, lastEventId?: string): Promise<StreamReader> {
    const reader = await StreamReader.open(world.api.url, to, lastEventId);
    readers.push(reader);
    return reader;
  }

  it('tells an unwind from its failure to its end, and no other org’s', async () => {
    const [mine, others] = [await listen(), await listen(await world.newOrg())];
    const session = await org.booked(['/a', '/b']);
    await session.fail();
    await mine.until(session.id, 'session compensated');
    expect(mine.of(session.id)).toEqual([
      'session failed',
      'session compensating',
      'undo compensated',
      'undo compensated',
      'session compensated',
    ]);
    const undos = mine.seen.flatMap(({ data }) => (data.session_id === session.id ? (data.undo_id ?? []) : []));
    expect(undos).toEqual((await session.stack()).map((entry) => entry.undo_id));
    expect(others.seen).toEqual([]);
  });

  it('goes on where a reader stopped: nothing is left out, nothing comes again', async () => {
    const whole = await listen();
    const session = await org.booked(['/a', '/b', '/c']);
    await session.fail();
    await whole.until(session.id, 'session compensated');
    for (const [index, { id }] of whole.seen.entries()) {
      const rest = await listen(org, id);
      const left = whole.seen.slice(index + 1).map((event) => event.id);
      await vi.waitFor(() => expect(rest.seen.map((event) => event.id)).toEqual(left), { timeout: 5000 });
    }
  });

  it('waits for a transaction that took its place early and commits late', async () => {
    const reader = await listen();
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO undolog_audit_log (org_id, actor, action, session_id) VALUES ($1, 'test', 'session.halted', 'slow')`,
      [org.orgId],
    );
    const session = await org.booked(['/a']);
    await session.fail();
    await session.reaches('compensated');
    const resumed = await listen();
    expect(reader.of(session.id)).toEqual([]);
    await client.query('COMMIT');
    await client.end();
    for (const one of [reader, resumed]) {
      await one.until(session.id, 'session compensated');
      expect(one.of('slow')).toEqual(['session halted']);
    }
  });

  it('is for operators, refuses ids that were never its own, and ends soon for a key that is revoked', async () => {
    const keys = await Promise.all(
      ['agent', 'operator'].map(async (role) =>
        bodyOf<{ key_id: string; api_key: string }>(await org.post('/v1/keys', { role })),
      ),
    );
    const [agent, operator] = keys.map(({ api_key: apiKey }) => ({ apiKey }));
    await expect(listen(agent)).rejects.toThrow('403');
    for (const id of ['x', '1', '1-2-3', '-1-1', '99999999999999999999-1'])
      await expect(listen(org, id)).rejects.toThrow('400');
    const reader = await listen(operator);
    await org.request('DELETE', `/v1/keys/${keys[1]!.key_id}`);
    await vi.waitFor(() => expect(reader.ended).toBe(true), { timeout: 10_000 });
  });

  it('ends when the process is to stop, which exits 0 at once', async () => {
    const api = world.addApi({});
    await api.start();
    const reader = await StreamReader.open(api.url, org);
    const startedMs = performance.now();
    expect(await api.stop()).toMatchObject({ code: 0 });
    expect(performance.now() - startedMs).toBeLessThan(5000);
    await vi.waitFor(() => expect(reader.ended).toBe(true));
  });
});
