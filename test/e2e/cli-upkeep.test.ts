import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Org } from '../support/api-client.js';
import { runUndolog, settled, type Ran } from '../support/command-line.js';
import { openWorld, type World } from '../support/world.js';

describe('the command line', () => {
  let world: World;
  let org: Org;
  beforeAll(async () => {
    world = await openWorld({ name: 'cli_upkeep' });
    org = await world.newOrg();
  });
  afterAll(() => world.close());

  const undolog = (...words: string[]): Promise<Ran> =>
    runUndolog(words, { UNDOLOG_URL: world.api.url, UNDOLOG_API_KEY: org.apiKey });

  it('finds sessions by what people know of them, and erases what was said in one', async () => {
    const session = await org.open({ session_id: 'findable-1', external_run_id: 'run-findable' });
    await session.book('/fine', { args: { ref: 'private' } });
    await session.fail();
    await session.reaches('compensated');
    const ids = async (...words: string[]): Promise<string[]> => {
      const { stdout } = await undolog('sessions', 'list', '--json', ...words);
      return (JSON.parse(stdout) as { session_id: string }[]).map(({ session_id: id }) => id);
    };
    expect(await ids('--run', 'run-findable')).toEqual(['findable-1']);
    expect(await ids('--id', 'findable-', '--state', 'halted,compensated')).toEqual(['findable-1']);
    expect(await ids('--id', 'findable-', '--after', '2999-01-01T00:00:00Z')).toEqual([]);
    const unasked = await undolog('sessions', 'erase', 'findable-1');
    expect([unasked.exitCode, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    const erased = await undolog('sessions', 'erase', 'findable-1', '--yes');
    expect([erased.exitCode, settled(erased.stdout)]).toEqual([0, 'findable-1 holds no data since <time>\n']);
    expect(JSON.stringify(await session.stack())).not.toContain('private');
  });

  it('says where alerts go, and whether they arrive', async () => {
    world.vendor.always('/alerts', { status: 503 });
    const made = await undolog(
      'webhooks',
      'create',
      `${world.vendor.url}/alerts`,
      '--event',
      'session.halted',
      '--json',
    );
    const { webhook_id: id, secret } = JSON.parse(made.stdout) as { webhook_id: string; secret: string };
    expect(secret).toMatch(/^whsec_/);
    expect(settled((await undolog('webhooks', 'list')).stdout)).toContain('enabled');
    expect((await undolog('webhooks', 'list')).stdout).not.toContain(secret);
    expect((await undolog('webhooks', 'test', id)).exitCode).toBe(0);
    const told = async (): Promise<string> => settled((await undolog('webhooks', 'deliveries', id)).stdout);
    await expect.poll(told, { timeout: 10_000 }).toMatch(/<uuid> webhook.test pending 1 503 <time>/);
    expect((await undolog('webhooks', 'enable', id)).exitCode).toBe(0);
    expect((await undolog('webhooks', 'remove', id)).exitCode).toBe(0);
    expect((await undolog('webhooks', 'deliveries', id)).exitCode).toBe(0);
    expect((await undolog('webhooks', 'remove', id)).exitCode).toBe(4);
  });

  it('shows what was called digit by digit, so that it can be corrected and sent again', async () => {
    world.vendor.script('/exact', { status: 422 });
    const session = await org.open();
    const compensation = `{"fn_name":"${await org.compensation('/exact', { retry: { max_retries: 0 } })}","version":"1"`;
    const args = '{"ref":"x","big":9007199254740993,"float":1.0}';
    const body = `{"tool_name":"book","args":{},"effect_class":"compensable","compensation":${compensation},"args":${args}}}`;
    expect((await org.post(`${session.path}/effects`, body)).status).toBe(201);
    await session.fail();
    await session.reaches('halted');
    const [letter] = await org.deadLetters(session.id);
    const shown = await undolog('dlq', 'show', letter!.dead_letter_id);
    expect(shown.stdout).toContain('"big": 9007199254740993');
    expect(shown.stdout).toContain('"float": 1.0');
    expect((await undolog('sessions', 'show', session.id, '--json')).stdout).toContain('9007199254740993');
  });

  it('sets a secret without a trace of its value, and lists names', async () => {
    const env = { UNDOLOG_URL: world.api.url, UNDOLOG_API_KEY: org.apiKey, TOKEN: 'Bearer new' };
    expect((await undolog('secrets', 'put', 'hotel_token')).exitCode).toBe(2);
    const set = await runUndolog(['secrets', 'put', 'hotel_token', '--from-env', 'TOKEN'], env);
    expect([set.exitCode, set.stdout]).toEqual([0, 'hotel_token is set\n']);
    const asked = await runUndolog(['secrets', 'put', 'other'], env, { ask: () => Promise.resolve('typed') });
    expect(asked.exitCode).toBe(0);
    const { stdout } = await undolog('secrets', 'list');
    expect(settled(stdout)).toMatch(/hotel_token <time>/);
    expect(stdout).not.toContain('Bearer');
  });
});
