import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, Org, type Registered, type SessionShown } from '../support/api-client.js';
import { openWorld, type World } from '../support/world.js';

describe.concurrent('nobody crosses orgs', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ name: 'orgs' });
  });
  afterAll(() => world.close());

  it('with the same session id, call_id and Idempotency-Key: two independent records and undos (C100, C54)', async () => {
    const orgs = [await world.newOrg('A'), await world.newOrg('B')];
    const runs = [];
    for (const org of orgs) {
      await org.compensation('/same', { headers: { 'x-test-org': org.orgId, 'x-credential': `of ${org.orgId}` } });
      const fnName = await org.compensation('/same', {
        headers: { 'x-test-org': org.orgId, 'x-credential': `of ${org.orgId}` },
      });
      const session = await org.open({ session_id: 'same', metadata: { of: org.orgId } });
      const request = {
        tool_name: 'book',
        call_id: 'same-call',
        args: { ref: 'same#1' },
        effect_class: 'compensable',
        compensation: { fn_name: fnName, version: '1', args: { ref: { $args: '/ref' }, id: { $result: '/id' } } },
      };
      const post = (): ReturnType<Org['post']> =>
        org.post(`${session.path}/effects`, request, { 'idempotency-key': 'same-key' });
      const [answer, repeat] = [await post(), await post()];
      expect(answer.status, answer.text).toBe(201);
      expect(repeat.headers.get('idempotent-replayed')).toBe('true');
      const registered = bodyOf<Registered>(answer);
      expect(bodyOf<Registered>(repeat)).toEqual(registered);
      session.refs.set(registered.effect_id, 'same#1');
      await session.callVendor(registered);
      await session.commit(registered.effect_id, { id: `of ${org.orgId}` });
      runs.push({ org, session, registered });
    }
    const [a, b] = runs as [(typeof runs)[0], (typeof runs)[0]];
    expect(a.registered.effect_id).not.toBe(b.registered.effect_id);
    expect(a.registered.idempotency_key).not.toBe(b.registered.idempotency_key);

    await a.session.fail();
    await a.session.reaches('compensated');
    expect((await b.session.view()).state).toBe('active');
    expect(b.session.undos()).toEqual([]);
    expect(world.vendor.standing(b.org.orgId)).toEqual(['same#1']);
    await b.session.fail();
    await b.session.reaches('compensated');
    for (const { org, session } of runs) {
      const [call, ...more] = session.undos();
      expect(more).toEqual([]);
      expect(JSON.parse(call!.body.toString())).toEqual({ ref: 'same#1', id: `of ${org.orgId}` });
      expect(call!.headers['x-credential']).toBe(`of ${org.orgId}`);
      expect((await session.view()).metadata).toEqual({ of: org.orgId });
      expect(world.vendor.standing(org.orgId)).toEqual([]);
    }
    expect(a.session.undos()[0]!.key).not.toBe(b.session.undos()[0]!.key);
  });

  it('another org’s ids are 404 on every route, and change nothing (C32)', async () => {
    const [mine, other] = [await world.newOrg('mine'), await world.newOrg('other')];
    world.vendor.always('/mine-refused', { status: 400 });
    const halted = await mine.booked(['/mine-refused']);
    await halted.fail();
    await halted.reaches('halted');
    const [letter] = await mine.deadLetters(halted.id);
    const session = await mine.booked(['/mine']);
    const [entry] = await session.stack();
    const effect = `/v1/effects/${entry!.effect_id}`;
    const foreign = [
      ['GET', session.path],
      ['GET', `${session.path}/stack`],
      ['POST', `${session.path}/effects`, { tool_name: 't', args: {}, effect_class: 'safe' }],
      ['POST', `${session.path}/complete`, {}],
      ['POST', `${session.path}/fail`, { reason: 'x' }],
      ['POST', `${session.path}/cancel`, { reason: 'x' }],
      ['POST', `${session.path}/heartbeat`, {}],
      ['POST', `${effect}/commit`, { result: 1 }],
      ['POST', `${effect}/fail`, { error: 'x', outcome: 'not_applied' }],
      ['GET', `/v1/dead-letters/${letter!.dead_letter_id}`],
      ['GET', `/v1/compensations/${encodeURIComponent('undo /mine')}/1`],
    ] as const;
    for (const [method, path, body] of foreign) {
      const answer = await other.request(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
    for (const list of ['/v1/sessions', '/v1/dead-letters', '/v1/compensations', '/v1/audit']) {
      expect((await other.get<{ data: unknown[] }>(list)).data, list).toEqual([]);
    }
    expect((await session.view()).state).toBe('active');
    expect(session.undos()).toEqual([]);
  });

  it('no key, a made-up key and a key of the wrong kind are 401 everywhere; health needs none (C32)', async () => {
    const org = await world.newOrg();
    const session = await org.booked(['/secret-keeping']);
    const strangers = ['', `ul_${'A'.repeat(43)}`, 'test-admin-token'].map(
      (key) => new Org(() => world.api.url, world.vendor, org.orgId, key),
    );
    for (const stranger of strangers) {
      for (const path of [
        session.path,
        `${session.path}/stack`,
        '/v1/sessions',
        '/v1/dead-letters',
        '/v1/keys',
        '/v1/audit',
      ]) {
        expect((await stranger.request('GET', path)).status, path).toBe(401);
      }
      expect((await stranger.post(`${session.path}/fail`, { reason: 'x' })).status).toBe(401);
    }
    for (const stranger of strangers.slice(0, 2)) {
      const metrics = await stranger.request('GET', '/metrics');
      expect(metrics.status).toBe(401);
      const open = await stranger.request('GET', '/healthz');
      expect([open.status, open.text]).not.toContain(session.id);
      expect(open.status).toBe(200);
    }
    expect(bodyOf<SessionShown>(await org.request('GET', session.path)).state).toBe('active');
  });
});
