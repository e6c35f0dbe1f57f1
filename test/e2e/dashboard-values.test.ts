import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../support/api-client.js';
import { CHROMIUM, live, signIn } from '../support/browser.js';
import { setPageStage } from '../support/page-stage.js';

const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };

/** No number of it survives JSON.parse and JSON.stringify; its names are those that objects stumble over. */
const EXACT = '{"ref":"x","big":9007199254740993,"float":1.0,"minus":-0,"__proto__":{"deep":1e400},"half":"\\ud800"}';

describe.skipIf(CHROMIUM === undefined)('at the page', () => {
  const stage = setPageStage('dashboard_values');

  /** A halted session whose undo was registered with this text, and was refused once. */
  async function haltedWith(args: string): Promise<AgentSession> {
    stage.world.vendor.script('/refused', { status: 422 });
    const session = await stage.org.open();
    const compensation = `{"fn_name":${JSON.stringify(await stage.org.compensation('/refused', ONCE))},"version":"1","args":${args}}`;
    const body = `{"tool_name":"book","args":{},"effect_class":"compensable","compensation":${compensation}}`;
    const registered = await stage.org.post(`${session.path}/effects`, body);
    expect(registered.status, registered.text).toBe(201);
    await session.fail();
    await session.reaches('halted');
    return session;
  }

  async function correct(session: AgentSession): Promise<Page> {
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    await page.getByRole('group', { name: 'What to do' }).waitFor();
    await page.keyboard.press('e');
    await page.getByLabel('Arguments').waitFor();
    return page;
  }

  const bodies = (session: AgentSession): string[] => session.undos().map((call) => call.body.toString('utf8'));

  it('arguments are shown digit by digit, and go back as they came but for what was corrected', async () => {
    const session = await haltedWith(EXACT);
    const page = await correct(session);
    const args = page.getByLabel('Arguments');
    await args.fill((await args.inputValue()).replace('"x"', '"y"'));
    await page.getByRole('button', { name: 'Retry with these' }).click();
    await session.reaches('compensated');
    expect(bodies(session)).toEqual([EXACT, EXACT.replace('"x"', '"y"')]);
  });

  it('a value that is hidden is never sent as "[redacted]"; the right one must be typed', async () => {
    const session = await haltedWith('{"ref":"x","password":"p4ss"}');
    const page = await correct(session);
    const args = page.getByLabel('Arguments');
    const shown = await args.inputValue();
    expect(shown).not.toContain('p4ss');
    await args.fill(shown.replace('"x"', '"y"'));
    await page.getByRole('button', { name: 'Retry with these' }).click();
    await page.getByText('A value is hidden on this page', { exact: false }).waitFor();
    expect(bodies(session)).toHaveLength(1);
    await args.fill('{"ref":"y","password":"p4ss"}');
    await page.getByRole('button', { name: 'Retry with these' }).click();
    await session.reaches('compensated');
    expect(bodies(session).at(-1)).toBe('{"ref":"y","password":"p4ss"}');
  });

  it('a wrong text is said to be wrong, and a call that may have taken is not corrected', async () => {
    const session = await haltedWith('{"ref":"x"}');
    const page = await correct(session);
    await page.getByLabel('Arguments').fill('{"ref":');
    await page.getByText('This is not JSON', { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    stage.world.vendor.script('/refused', { status: 500 });
    await session.retry();
    await expect.poll(() => bodies(session).length).toBe(2);
    await session.reaches('halted');
    await page.getByRole('region', { name: 'What broke' }).getByText('HTTP 500, unknown').waitFor();
    await page.keyboard.press('e');
    await page.getByLabel('Arguments').fill('{"ref":"y"}');
    await page.getByRole('button', { name: 'Retry with these' }).click();
    await page.getByText('outcome_unknown', { exact: false }).waitFor();
    expect(bodies(session)).toHaveLength(2);
  });

  it('an address that was sent by a colleague is opened after the sign-in', async () => {
    const session = await haltedWith('{"ref":"x"}');
    const page = await stage.context.newPage();
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    await page.getByLabel('API key').fill(stage.org.apiKey);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /broke at position 1/ }).waitFor();
    expect(page.url()).toContain(session.id);
  });

  it('an api that goes and comes back is said to be away, and what changed meanwhile is shown', async () => {
    const session = await haltedWith('{"ref":"x"}');
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    await live(page);
    await stage.world.api.kill();
    await page.getByText('Connecting…').waitFor();
    await stage.world.api.start();
    await session.retry();
    await live(page);
    await page.getByText('Nothing stands: every effect was undone.').waitFor();
    expect(bodies(session)).toHaveLength(2);
  });

  it('a stack of a thousand is shown, and walked by keyboard', async () => {
    const session = await stage.org.open();
    for (let n = 0; n < 1000; n += 100) await Promise.all(Array.from({ length: 100 }, () => session.register('/fine')));
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    const beganMs = performance.now();
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    await page.locator('.stack .row').nth(999).waitFor({ state: 'attached' });
    expect(performance.now() - beganMs).toBeLessThan(5_000);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByText('Arguments of the undo').waitFor();
  });

  it('times are UTC and colours dark for whoever wants them so, also the next time', async () => {
    const session = await haltedWith('{"ref":"x"}');
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    for (const choice of ['UTC', 'Dark']) {
      await page.getByRole('button', { name: 'admin' }).click();
      await page.getByRole('menuitemradio', { name: choice }).click();
      await page.keyboard.press('Escape');
    }
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    const opened = (await session.view()).created_at;
    await page
      .getByText(`${opened.slice(0, 19).replace('T', ' ')} UTC`)
      .first()
      .waitFor();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme')).toBe('dark');
  });

  it('a search is a key away, and an address that can be sent on', async () => {
    const session = await haltedWith('{"ref":"x"}');
    await stage.org.open();
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('row').nth(2).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(session.id.slice(0, 13));
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(page.url()).toContain(`session_id=${session.id.slice(0, 13)}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /broke at position 1/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  });
});
