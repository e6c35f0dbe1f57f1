import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { OddVendor, type SeenRequest } from '../support/odd-vendor.js';
import { openWorld, type World } from '../support/world.js';

interface Made {
  readonly webhook_id: string;
  readonly secret: string;
}

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };

describe('a webhook', () => {
  let world: World;
  const receiver = new OddVendor();
  beforeAll(async () => {
    world = await openWorld({ name: 'alerts', compensators: 2 });
    await receiver.listen();
  });
  afterAll(async () => {
    await world.close();
    await receiver.close();
  });

  async function webhook(org: Org, path: string, more: object = {}): Promise<Made> {
    const made = await org.post('/v1/webhooks', { url: receiver.url(path), ...more });
    expect(made.status, made.text).toBe(201);
    return bodyOf<Made>(made);
  }

  /** What came, its signature checked. */
  const told = (path: string, { secret }: Made): Told[] =>
    receiver.seenAt(path).map(({ body, headers }) => {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return JSON.parse(body) as Told;
    });

  const sessionThatHalts = async (org: Org, path: string, id: string) => {
    world.vendor.script(path, { status: 503 });
    const spec = { ...ONCE };
    const session = await org.booked([path], { session: { session_id: id, agent_name: 'night' }, spec });
    await session.fail('c4n4ry-reason');
    await session.reaches('halted');
    return session;
  };

  it('is told of each event once, signed, with ids and codes and nothing of the arguments', async () => {
    const [org, other] = [await world.newOrg(), await world.newOrg()];
    const all = await webhook(org, '/all');
    const some = await webhook(org, '/some', { events: ['session.compensated'] });
    const foreign = await webhook(other, '/foreign');
    const session = await sessionThatHalts(org, '/halts', 'alerted');
    await expect.poll(() => receiver.seenAt('/all').length, { timeout: 10_000 }).toBe(2);
    const [letter] = await org.deadLetters('alerted');
    const [entry] = await session.stack();
    const ids = { session_id: 'alerted', undo_id: entry!.undo_id, code: 'http_503', stack_position: 1 };
    const news = told('/all', all);
    expect(news.find(({ type }) => type === 'undo.unconfirmed')!.data).toEqual({ ...ids, agent_name: 'night' });
    expect(news.find(({ type }) => type === 'session.halted')!.data).toEqual({
      ...ids,
      agent_name: 'night',
      dead_letter_id: letter!.dead_letter_id,
    });
    await session.retry();
    await session.reaches('compensated');
    await expect.poll(() => receiver.seenAt('/some').length, { timeout: 10_000 }).toBe(1);
    expect(told('/some', some)).toMatchObject([{ type: 'session.compensated', data: { session_id: 'alerted' } }]);
    await expect.poll(() => receiver.seenAt('/all').length, { timeout: 10_000 }).toBe(3);
    expect(told('/foreign', foreign)).toEqual([]);
    for (const { body } of receiver.ledger) expect(body).not.toMatch(/c4n4ry|alerted#/);
  });

  it('that fails is tried again under the same id; one that is gone is disabled, and can be enabled', async () => {
    const org = await world.newOrg();
    let calls = 0;
    receiver.on('/flaky', (_request, response) => response.writeHead(++calls < 2 ? 503 : 204).end());
    receiver.on('/gone', (_request, response) => response.writeHead(410).end());
    const flaky = await webhook(org, '/flaky', { events: ['session.compensated'] });
    const gone = await webhook(org, '/gone', { events: ['session.compensated'] });
    const session = await org.booked(['/fine']);
    await session.fail();
    await session.reaches('compensated');
    await expect.poll(() => receiver.seenAt('/flaky').length, { timeout: 20_000 }).toBe(2);
    const id = ({ headers }: SeenRequest): unknown => headers['webhook-id'];
    const [first, second] = receiver.seenAt('/flaky');
    expect([id(first!), first!.body]).toEqual([id(second!), second!.body]);
    const deliveries = async ({ webhook_id: webhookId }: Made) =>
      (
        await org.get<{ data: { state: string; attempts: { status: number }[] }[] }>(
          `/v1/webhooks/${webhookId}/deliveries`,
        )
      ).data;
    await expect
      .poll(() => deliveries(flaky))
      .toMatchObject([{ state: 'delivered', attempts: [{ status: 503 }, { status: 204 }] }]);
    await expect
      .poll(() => org.get(`/v1/webhooks/${gone.webhook_id}`))
      .toMatchObject({
        state: 'disabled',
        disabled_because: 'gone',
      });
    receiver.on('/gone', (_request, response) => response.writeHead(200).end());
    expect((await org.post(`/v1/webhooks/${gone.webhook_id}/enable`)).status).toBe(200);
    expect((await org.post(`/v1/webhooks/${gone.webhook_id}/test`)).status).toBe(202);
    await expect.poll(() => receiver.seenAt('/gone').length, { timeout: 10_000 }).toBe(2);
    const [tested] = (await org.get<{ data: { delivery_id: string }[] }>(`/v1/webhooks/${gone.webhook_id}/deliveries`))
      .data;
    const path = `/v1/webhooks/${gone.webhook_id}/deliveries/${tested!.delivery_id}/redeliver`;
    expect((await org.post(path)).status).toBe(202);
    await expect.poll(() => receiver.seenAt('/gone').length, { timeout: 10_000 }).toBe(3);
    expect((await org.request('DELETE', `/v1/webhooks/${gone.webhook_id}`)).status).toBe(204);
    expect((await org.request('GET', `/v1/webhooks/${gone.webhook_id}`)).status).toBe(404);
  });

  it('is told although every compensator is killed, and a slow one delays no undo', async () => {
    const org = await world.newOrg();
    receiver.on('/slow', async (_request, response) => {
      await new Promise((resolve) => setTimeout(resolve, 3000));
      response.writeHead(200).end();
    });
    await webhook(org, '/slow');
    await webhook(org, '/survives');
    const sessions = await Promise.all(Array.from({ length: 12 }, () => org.booked(['/fine'])));
    await Promise.all(sessions.map((session) => session.fail()));
    const startedMs = performance.now();
    await Promise.all(sessions.map((session) => session.reaches('compensated')));
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    await Promise.all(world.compensators.map((one) => one.kill()));
    await Promise.all(world.compensators.map((one) => one.start()));
    const heard = (): number => new Set(receiver.seenAt('/survives').map(({ headers }) => headers['webhook-id'])).size;
    await expect.poll(heard, { timeout: 45_000 }).toBe(12);
  });

  it('of an address that may not be called is refused, and shows its secret to nobody later', async () => {
    const org = await world.newOrg();
    const refused = await org.post('/v1/webhooks', { url: 'http://169.254.169.254/' });
    expect([refused.status, bodyOf(refused)['code']]).toEqual([422, 'url_not_allowed']);
    const { secret, webhook_id: id } = await webhook(org, '/shown?token=c4n4ry');
    for (const path of ['/v1/webhooks', `/v1/webhooks/${id}`, '/v1/audit']) {
      expect((await org.request('GET', path)).text).not.toContain(secret);
    }
    const stored = await world.rows<{ row: string }>(`SELECT w::text AS row FROM undolog_webhooks w`);
    for (const { row } of stored) expect(row).not.toContain(Buffer.from('c4n4ry').toString('hex'));
    expect((await org.post('/v1/webhooks', { url: receiver.url('/x'), events: ['nothing'] })).status).toBe(400);
  });
});
