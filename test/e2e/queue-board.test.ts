import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { CHROMIUM, openBrowser } from '../support/browser.js';
import { ADMIN_TOKEN } from '../support/product.js';
import { openWorld, type World } from '../support/world.js';

const QUEUE = 'session-compensation-dead-letter';

describe('the raw queues', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'queue_board' });
    org = await world.newOrg();
    world.vendor.script('/refused', { status: 422 });
    const session = await org.booked(['/refused'], { spec: { retry: { max_retries: 0 } } });
    await session.fail();
    await session.reaches('halted');
  });
  afterAll(() => world.close());

  const ask = (path: string, authorization?: string, method = 'GET'): Promise<Response> =>
    fetch(`${world.api.url}/dashboard/queues${path}`, {
      method,
      ...(authorization !== undefined && { headers: { authorization } }),
    });
  const asAdmin = `Bearer ${ADMIN_TOKEN}`;
  const basic = (password: string): string => `Basic ${Buffer.from(`any:${password}`).toString('base64')}`;

  it('are shown to whoever has the admin token, and to no key of an org', async () => {
    for (const nobody of [undefined, `Bearer ${org.apiKey}`, basic('wrong'), basic(org.apiKey), 'Basic !']) {
      const answer = await ask('/api/queues', nobody);
      expect(answer.status, nobody).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('Basic');
    }
    for (const somebody of [asAdmin, basic(ADMIN_TOKEN)]) {
      const answer = await ask('/api/queues', somebody);
      expect(answer.status, await answer.clone().text()).toBe(200);
      const { queues } = (await answer.json()) as { queues: { name: string; readOnlyMode: boolean }[] };
      expect(queues.map(({ name, readOnlyMode }) => [name, readOnlyMode])).toEqual([
        ['session-compensation', true],
        [QUEUE, true],
        ['alert-delivery', true],
      ]);
    }
  });

  it('can be looked at and not be changed', async () => {
    const before = await (await ask(`/api/queues?activeQueue=${QUEUE}`, asAdmin)).json();
    const changes: [string, string][] = [
      ['PUT', `/api/queues/${QUEUE}/pause`],
      ['PUT', `/api/queues/${QUEUE}/empty`],
      ['PUT', '/api/queues/pause'],
      ['PUT', `/api/queues/${QUEUE}/clean/completed`],
      ['POST', `/api/queues/${QUEUE}/add`],
      ['DELETE', `/api/queues/${QUEUE}/obliterate`],
    ];
    for (const [method, path] of changes) {
      const answer = await ask(path, asAdmin, method);
      expect([answer.status, answer.headers.get('allow')], `${method} ${path}`).toEqual([405, 'GET, HEAD']);
    }
    expect(await (await ask(`/api/queues?activeQueue=${QUEUE}`, asAdmin)).json()).toEqual(before);
  });

  it.skipIf(CHROMIUM === undefined)('are a page, under the same policy as every other', async () => {
    const browser = await openBrowser();
    try {
      const context = await browser.newContext({ httpCredentials: { username: 'any', password: ADMIN_TOKEN } });
      const page = await context.newPage();
      const answer = await page.goto(`${world.api.url}/dashboard/queues/queue/${QUEUE}`);
      expect(answer!.headers()['content-security-policy']).toContain("script-src 'self'");
      await page.getByText(QUEUE).first().waitFor({ timeout: 10_000 });
    } finally {
      await browser.close();
    }
  });

  it('keep an address from trying one token after the other', async () => {
    let answer = await ask('', basic('wrong'));
    for (let tries = 0; tries < 20 && answer.status === 401; tries++) answer = await ask('', basic('wrong'));
    expect(answer.status).toBe(429);
  });

  it('are shown as well where they run on Postgres', async () => {
    const other = await openWorld({ name: 'queue_board_postgres', redisUrl: undefined, compensators: 0 });
    try {
      const answer = await fetch(`${other.api.url}/dashboard/queues/api/queues`, {
        headers: { authorization: asAdmin },
      });
      expect(answer.status, await answer.clone().text()).toBe(200);
      expect(((await answer.json()) as { queues: unknown[] }).queues).toHaveLength(3);
    } finally {
      await other.close();
    }
  });
});
