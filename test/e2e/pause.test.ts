import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe('a compensation that is paused', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'pause', compensators: 2 });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const turn = async (fnName: string, way: 'pause' | 'resume', body?: object): Promise<unknown[]> => {
    const answer = await org.post(`/v1/compensations/${encodeURIComponent(fnName)}/${way}`, body);
    return [answer.status, bodyOf(answer)];
  };

  it('is not called by any process until it is resumed, then at once and in order; others go on', async () => {
    const fnName = await org.compensation('/paused');
    const before = await org.booked(['/paused', '/paused']);
    const paused = { fn_name: fnName, paused: true, reason: 'their outage' };
    expect(await turn(fnName, 'pause', { reason: 'their outage' })).toEqual([200, paused]);
    expect(await turn(fnName, 'pause', { reason: 'again' })).toEqual([200, paused]);
    await before.fail();
    const after = await org.booked(['/paused']);
    await after.fail();
    // Looks of the sweep and jobs of its own pass by meanwhile.
    const others = await Promise.all(Array.from({ length: 5 }, () => org.booked(['/elsewhere'])));
    for (const other of others) await other.fail();
    for (const other of others) await other.reaches('compensated');
    expect(world.vendor.ledger.at('/paused')).toEqual([]);
    for (const entry of [...(await before.stack()), ...(await after.stack())]) {
      expect(entry).toMatchObject({ state: 'active', code: 'compensation_paused', attempts: [] });
    }
    const { data } = await org.get<{ data: { fn_name: string; paused: boolean; pause_reason: unknown }[] }>(
      '/v1/compensations',
    );
    expect(data.map(({ fn_name, paused: is, pause_reason: why }) => [fn_name, is, why])).toEqual([
      ['undo /elsewhere', false, null],
      ['undo /paused', true, 'their outage'],
    ]);

    expect(await turn(fnName, 'resume')).toEqual([200, { fn_name: fnName, paused: false, reason: null }]);
    for (const session of [before, after]) await session.reaches('compensated', 4000);
    expect(await before.calledPositions()).toEqual([2, 1]);
    expect(world.vendor.ledger.at('/paused')).toHaveLength(3);
  });

  it('may have a version of the name `pause`', async () => {
    const address = '/v1/compensations/odd/pause';
    expect((await org.request('PUT', address, { url: `${world.vendor.url}/odd` })).status).toBe(201);
    expect((await org.request('GET', address)).status).toBe(200);
    expect((await org.post('/v1/compensations/odd/1', {})).status).toBe(405);
  });

  it('and was never registered is not found, whoever asks', async () => {
    expect((await turn('nobody', 'pause', { reason: 'x' }))[0]).toBe(404);
    expect((await turn('nobody', 'resume'))[0]).toBe(404);
    expect((await turn('\u0000', 'resume'))[0]).toBe(404);
    const stranger = await world.newOrg();
    const fnName = encodeURIComponent(await org.compensation('/private'));
    expect((await stranger.post(`/v1/compensations/${fnName}/pause`, { reason: 'x' })).status).toBe(404);
  });
});
