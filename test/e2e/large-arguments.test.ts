import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bodyOf, type Org } from '../support/api-client.js';
import { queuedWakeUps } from '../support/queue-look.js';
import { openWorld, type World } from '../support/world.js';

const FIVE_MB = 5 * 1024 * 1024;

describe('arguments of a size', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'large_arguments' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  it('of 5 MB reach the endpoint byte for byte, on every try, while a job in the queue stays below 1 KB (C23)', async () => {
    const blob = 'x'.repeat(FIVE_MB);
    world.vendor.script('/large', { status: 503, delayMs: 800 });
    const session = await org.open();
    await session.register('/large', { args: { blob, ref: 'large' } }, { args: { all: { $args: '' } } });
    await session.fail();
    await expect.poll(() => world.vendor.ledger.at('/large').length, { timeout: 15_000 }).toBe(1);
    const queued = await queuedWakeUps(world);
    expect(queued.length).toBeGreaterThan(0);
    for (const data of queued) expect(JSON.stringify(data).length).toBeLessThan(1024);
    await session.reaches('compensated');
    const bodies = world.vendor.ledger.at('/large').map((call) => call.body);
    expect(bodies).toHaveLength(2);
    for (const body of bodies) expect(body.equals(Buffer.from(`{"all":{"blob":"${blob}","ref":"large"}}`))).toBe(true);
  });

  it('above 8 MiB are refused before the tool runs: 413, and nothing is registered (C23)', async () => {
    const session = await org.open();
    await org.compensation('/too-large');
    const answer = await session.tryRegister('/too-large', { args: { blob: 'x'.repeat(9 * 1024 * 1024) } });
    expect([answer.status, bodyOf(answer)['code']]).toEqual([413, 'body_too_large']);
    expect(await session.stack()).toEqual([]);
  });
});
