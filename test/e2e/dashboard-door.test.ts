import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { StreamReader } from '../support/event-stream.js';
import { PageVisitor, type SignedIn } from '../support/page-visitor.js';
import { openWorld, type World } from '../support/world.js';

describe('the door of the web page', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'dashboard_door', compensators: 0 });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const newKey = async (role: string, of: Org = org): Promise<{ key_id: string; api_key: string }> =>
    bodyOf(await of.post('/v1/keys', { role, name: `${role} of the night` }));

  async function visitor(apiKey = org.apiKey): Promise<PageVisitor> {
    const visit = new PageVisitor(world.api.url);
    const answer = await visit.signIn({ apiKey });
    expect(answer.status, answer.text).toBe(200);
    return visit;
  }

  it('exchanges a key for a cookie that no script reads and no other site sends, and keeps neither in the clear', async () => {
    const { key_id: keyId, api_key: apiKey } = await newKey('operator');
    const visit = new PageVisitor(world.api.url);
    const answer = await visit.signIn({ apiKey });
    expect(visit.setCookie).toMatch(/^undolog=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const told = bodyOf<SignedIn>(answer);
    expect(told).toMatchObject({ org_id: org.orgId, key_id: keyId, role: 'operator', name: 'operator of the night' });
    expect(Date.parse(told.expires_at) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
    const token = visit.cookie.slice('undolog='.length);
    for (const secret of [token, apiKey]) expect(answer.text).not.toContain(secret);
    const kept = await world.rows('SELECT d.*, token_hash::text FROM undolog_dashboard_sessions d');
    expect(JSON.stringify(kept)).not.toContain(token);
    expect(bodyOf(await visit.bare('GET', '/dashboard/session'))).toEqual(told);
    const log = await org.get<{ data: object[] }>('/v1/audit?action=dashboard.signed_in');
    expect(log.data[0]).toMatchObject({ actor: keyId, actor_name: 'operator of the night' });
  });

  it('opens to operators and admins only', async () => {
    const visit = new PageVisitor(world.api.url);
    const refused = await visit.signIn({ apiKey: (await newKey('agent')).api_key });
    expect([refused.status, bodyOf(refused)['code'], refused.headers.get('set-cookie')]).toEqual([
      403,
      'forbidden',
      null,
    ]);
    expect(refused.text).toContain('operator or admin');
    expect((await visit.bare('GET', '/dashboard/session')).status).toBe(401);
    const operator = await visitor((await newKey('operator')).api_key);
    expect((await operator.request('POST', '/v1/keys', { body: { role: 'admin' } })).status).toBe(403);
  });

  it('takes a write under the cookie only with proof that the page sent it, and records the key as its actor', async () => {
    const { key_id: keyId, api_key: apiKey } = await newKey('operator');
    const [visit, other] = [await visitor(apiKey), await visitor(apiKey)];
    const session = await org.open();
    const fail = (headers: Record<string, string>) =>
      visit.bare('POST', `${session.path}/fail`, { body: { reason: 'by hand' }, headers });
    const own = { 'x-undolog-csrf': visit.csrfToken };
    const forged: Record<string, string>[] = [
      {},
      { 'x-undolog-csrf': '' },
      { 'x-undolog-csrf': other.csrfToken },
      { ...own, origin: 'https://evil.example' },
      { ...own, origin: 'null' },
      { ...own, origin: world.api.url.replace(/\d+$/, '1') },
      { ...own, 'sec-fetch-site': 'cross-site' },
      { ...own, 'sec-fetch-site': 'same-site' },
      { ...own, 'sec-fetch-site': 'none' },
    ];
    for (const headers of forged) {
      const refused = await fail(headers);
      expect([headers, refused.status, bodyOf(refused)['code']]).toEqual([headers, 403, 'csrf_refused']);
    }
    expect((await session.view()).state).toBe('active');
    for (const headers of forged.slice(3, 8)) {
      expect((await visit.bare('GET', '/v1/sessions', { headers })).status).toBe(403);
    }
    expect((await visit.bare('GET', '/v1/sessions', { headers: { 'sec-fetch-site': 'none' } })).status).toBe(200);
    const ofAnother = await visit.bare('GET', '/v1/sessions', { headers: { 'x-undolog-csrf': other.csrfToken } });
    expect([ofAnother.status, bodyOf(ofAnother)['code']]).toEqual([403, 'csrf_refused']);
    expect((await fail({ ...own, origin: world.api.url, 'sec-fetch-site': 'same-origin' })).status).toBe(202);
    const { data } = await org.get<{ data: { actor: string }[] }>(
      `/v1/audit?session_id=${session.id}&action=session.failed`,
    );
    expect(data.map((entry) => entry.actor)).toEqual([keyId]);
  });

  it('lets a bearer key go before the cookie', async () => {
    const other = await world.newOrg();
    const visit = await visitor();
    const headers = { authorization: `Bearer ${other.apiKey}` };
    expect(bodyOf(await visit.bare('GET', '/v1/whoami', { headers }))['org_id']).toBe(other.orgId);
    expect((await visit.bare('POST', '/v1/sessions', { body: {}, headers })).status).toBe(201);
    const wrong = { authorization: `Bearer ${other.apiKey}x` };
    expect((await visit.request('GET', '/v1/whoami', { headers: wrong })).status).toBe(401);
  });

  it('shows no org another’s, and no secrets to anybody, whatever depth they lie at', async () => {
    const visit = await visitor();
    const args = { ref: 'r', deep: [{ api_token: 'hunter2', n: 1.5 }] };
    const session = await org.open({ metadata: { password: 'hunter2', note: 'kept' } });
    await session.register('/a', { args });
    expect(await session.stack()).toMatchObject([{ effect: { args } }]);
    const [stack, view] = [
      await visit.request('GET', `${session.path}/stack`),
      await visit.request('GET', session.path),
    ];
    expect(bodyOf(stack)['data']).toMatchObject([
      { effect: { args: { ref: 'r', deep: [{ api_token: '[redacted]', n: 1.5 }] } } },
    ]);
    expect(bodyOf(view)['metadata']).toEqual({ password: '[redacted]', note: 'kept' });
    const opened = await visit.request('POST', '/v1/sessions', { body: { metadata: { token: 'hunter2' } } });
    expect(opened.text).not.toContain('hunter2');
    const stranger = await visitor((await world.newOrg()).apiKey);
    expect((await stranger.request('GET', session.path)).status).toBe(404);
    expect(bodyOf(await stranger.request('GET', '/v1/sessions'))['data']).toEqual([]);
    const made = await visit.request('POST', '/v1/keys', { body: { role: 'agent' } });
    expect(bodyOf(made)['api_key']).toMatch(/^ul_/);
  });

  it('knows who is signed in at every api, after a restart too, until the key is revoked or somebody signs out', async () => {
    const { key_id: keyId, api_key: apiKey } = await newKey('operator');
    const [visit, second] = [await visitor(apiKey), await visitor(apiKey)];
    const streaming = await StreamReader.open(world.api.url, { cookie: second.cookie });
    const other = await world.addApi({}).start();
    const elsewhere = Object.assign(new PageVisitor(other.url), { cookie: visit.cookie });
    expect((await elsewhere.bare('GET', '/dashboard/session')).status).toBe(200);

    expect((await visit.bare('DELETE', '/dashboard/session')).status).toBe(403);
    expect((await visit.request('DELETE', '/dashboard/session')).status).toBe(204);
    expect(visit.setCookie).toMatch(/^undolog=; Max-Age=0; /);
    for (const path of ['/dashboard/session', '/v1/sessions']) {
      expect([path, (await elsewhere.bare('GET', path)).status]).toEqual([path, 401]);
    }
    expect((await second.request('GET', '/v1/sessions')).status).toBe(200);
    const session = await org.open();
    await session.fail();
    await vi.waitFor(() => expect(streaming.of(session.id)).toContain('session failed'), { timeout: 5000 });

    await org.request('DELETE', `/v1/keys/${keyId}`);
    expect((await second.request('GET', '/v1/sessions')).status).toBe(401);
    await vi.waitFor(() => expect(streaming.ended).toBe(true), { timeout: 8000 });

    const third = await visitor();
    await world.api.stop();
    await world.api.start();
    third.url = world.api.url;
    expect((await third.request('GET', '/v1/sessions')).status).toBe(200);
    await world.rows(`UPDATE undolog_dashboard_sessions SET expires_at = now()`);
    expect((await third.request('GET', '/v1/sessions')).status).toBe(401);
  });

  it('believes a proxy that it was told of, and nobody else, about https and addresses', async () => {
    const behind = await world.addApi({ UNDOLOG_TRUSTED_PROXIES: '127.0.0.1' }).start();
    const forwarded = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'undo.example',
      origin: 'https://undo.example',
    };
    const visit = new PageVisitor(behind.url);
    expect((await visit.signIn(org, forwarded)).status).toBe(200);
    expect(visit.setCookie).toMatch(/^__Host-undolog=[\w-]{43}; .*; Secure$/);
    expect((await visit.request('POST', '/v1/sessions', { body: {}, headers: forwarded })).status).toBe(201);
    const direct = new PageVisitor(world.api.url);
    expect((await direct.signIn(org, { 'x-forwarded-proto': 'https' })).status).toBe(200);
    expect(direct.setCookie).not.toContain('Secure');

    const guess = (url: string, address: string, apiKey: string) =>
      new PageVisitor(url).signIn({ apiKey }, { ...(address !== '' && { 'x-forwarded-for': address }) });
    for (let n = 0; n < 10; n++) expect((await guess(behind.url, '203.0.113.9', `ul_${n}`)).status).toBe(401);
    const refused = await guess(behind.url, '203.0.113.9', org.apiKey);
    expect([refused.status, bodyOf(refused)['code'], refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '60',
    ]);
    expect((await guess(behind.url, '203.0.113.10', org.apiKey)).status).toBe(200);
    for (let n = 0; n < 10; n++) await guess(world.api.url, `203.0.113.${n}`, `ul_${n}`);
    expect((await guess(world.api.url, '203.0.113.99', org.apiKey)).status).toBe(429);
  });
});
