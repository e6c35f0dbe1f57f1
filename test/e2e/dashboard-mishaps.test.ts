import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { bodyOf, type AgentSession } from '../support/api-client.js';
import { CHROMIUM, live, misdeedsOf, signIn } from '../support/browser.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { setPageStage } from '../support/page-stage.js';

const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };

describe.skipIf(CHROMIUM === undefined)('the page, when something is amiss', () => {
  let postgres: FaultProxy;
  const stage = setPageStage('dashboard_mishaps', {
    apiEnv: async (databaseUrl) => {
      postgres = new FaultProxy(databaseUrl);
      await postgres.listen();
      return { DATABASE_URL: postgres.url };
    },
  });
  afterAll(() => postgres.close());

  const visit = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${stage.world.api.url}/dashboard${path}`);
    await live(page);
  };
  const visitor = (): Promise<Page> => signIn(stage.context, stage.world.api.url, stage.org.apiKey);

  /** Both of its undos are refused, one after the other. */
  async function twiceBroken(): Promise<AgentSession> {
    const path = `/refused/${randomUUID()}`;
    stage.world.vendor.always(path, { status: 422 });
    const session = await stage.org.booked([path, path], { spec: ONCE });
    await session.fail();
    await session.reaches('halted');
    return session;
  }

  const stateOf = async (session: AgentSession, position: number): Promise<string> =>
    (await session.stack()).find((entry) => entry.stack_position === position)!.state;

  it('a dialog acts on what it was opened for, though the next thing has broken meanwhile', async () => {
    const session = await twiceBroken();
    const page = await visitor();
    await visit(page, `/sessions/${session.id}`);
    await page.getByRole('heading', { name: /broke at position 2/ }).waitFor();
    await page.keyboard.press('s');
    await page.getByLabel('Why it may stand').fill('of position 2');
    expect((await session.act('skip', { reason: 'a colleague' })).status).toBe(202);
    await page.getByText(/broke at position 1/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Somebody was faster', { exact: false }).first().waitFor();
    expect(await page.getByLabel('Why it may stand').inputValue()).toBe('of position 2');
    expect([await stateOf(session, 2), await stateOf(session, 1)]).toEqual(['skipped', 'failed']);
  });

  it('a dialog stays, with what was typed, when its dead letter was closed meanwhile', async () => {
    const session = await twiceBroken();
    const page = await visitor();
    await visit(page, `/sessions/${session.id}`);
    await page.getByRole('heading', { name: /broke at position 2/ }).waitFor();
    await page.keyboard.press('x');
    await page.getByLabel('What you did').fill('refunded by phone');
    expect((await session.act('resolve', { reason: 'a colleague' })).status).toBe(200);
    await page.getByText('a colleague', { exact: false }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('dead_letter_closed', { exact: false }).waitFor();
    expect(await page.getByLabel('What you did').inputValue()).toBe('refunded by phone');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('group', { name: 'What to do' }).count()).toBe(0);
  });

  it.each(['100%', 'a%2Fb', '/b?c=d#e&f', '%E0%A4%A', `a:b;c+d \\ "'<>`])(
    'a session called %s is opened from the list, by its address, and found by its agent',
    async (name) => {
      const session = await stage.org.open({ session_id: name, agent_name: name });
      await stage.org.open({ agent_name: 'another' });
      const page = await visitor();
      const misdeeds = misdeedsOf(page);
      await visit(page, '/sessions');
      await page.getByLabel('Agent').fill(name);
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await page.reload();
      await page.getByRole('link', { name, exact: true }).waitFor();
      expect(await page.getByLabel('Agent').inputValue()).toBe(name);
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByText('It has registered nothing yet.').waitFor();
      await page.reload();
      await page.getByRole('heading', { name: `Session ${session.id}` }).waitFor();
      await page.getByText('It has registered nothing yet.').waitFor();
      await page.goBack();
      await page.getByRole('link', { name, exact: true }).waitFor();
      expect(misdeeds).toEqual([]);
    },
  );

  it.each([
    '/audit?since=yesterday&until=%00',
    '/overview?hours=__proto__',
    '/sessions?state=nobody&created_after=1&created_before=2',
    '/dead-letters?state=constructor',
    '/dead-letters/nothing',
    `/sessions/${'x'.repeat(300)}`,
  ])('%s is answered with words and a button, and the next page is a key away', async (path) => {
    const page = await visitor();
    const misdeeds = misdeedsOf(page);
    await visit(page, path);
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Compensations' }).waitFor();
    expect(misdeeds).toEqual([]);
  });

  it('an answer that the page can not make sense of is said to be one, beside the way to every other page', async () => {
    const session = await stage.org.open();
    const page = await visitor();
    await page.route(`**${session.path}`, (route) => route.fulfill({ json: { session_id: session.id } }));
    await visit(page, `/sessions/${session.id}`);
    await page.getByText('This could not be shown', { exact: false }).waitFor();
    expect(await page.getByRole('navigation').isVisible()).toBe(true);
    await page.unroute(`**${session.path}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('It has registered nothing yet.').waitFor();
  });

  it('a time is a filter once it was typed, and none once the list is asked for anew', async () => {
    const session = await stage.org.open();
    const page = await visitor();
    const misdeeds = misdeedsOf(page);
    await visit(page, '/sessions');
    const after = page.getByLabel('Opened after');
    await after.focus();
    await page.keyboard.type('12312099');
    await page.keyboard.type('1159PM');
    await page.getByText('No session is like that.').waitFor();
    expect(new URL(page.url()).searchParams.get('created_after')).toBe(new Date('2099-12-31T23:59').toISOString());
    await page.getByRole('navigation').getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('link', { name: session.id }).waitFor();
    expect(await after.inputValue()).toBe('');
    expect(misdeeds).toEqual([]);
  });

  it('a tab asks for a key once another tab has signed out, whatever it shows', async () => {
    const page = await visitor();
    await visit(page, '/audit');
    const other = await stage.context.newPage();
    await visit(other, '/overview');
    await other.getByRole('button', { name: 'admin' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    for (const tab of [other, page]) await tab.getByLabel('API key').waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
  });

  it('a tab shows nothing of one org under the name of another, after a sign-in in another tab', async () => {
    const other = await stage.world.newOrg();
    const theirs = await other.open();
    const key = await other.post('/v1/keys', { role: 'operator', name: 'Theirs' });
    const page = await visitor();
    const otherTab = await stage.context.newPage();
    await otherTab.goto(`${stage.world.api.url}/dashboard/icon.svg`);
    const signedIn = await otherTab.evaluate(
      async (body) => {
        const headers = { 'content-type': 'application/json' };
        return (await fetch('/dashboard/session', { method: 'POST', headers, body })).status;
      },
      JSON.stringify({ api_key: bodyOf<{ api_key: string }>(key).api_key }),
    );
    expect(signedIn).toBe(200);
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('link', { name: theirs.id }).waitFor();
    expect(await page.getByRole('button', { name: 'Theirs' }).count()).toBe(1);
  });

  it('says that Postgres is away, signs nobody out by mere words, and goes on at a press', async () => {
    const session = await stage.org.open();
    const page = await visitor();
    await live(page);
    postgres.fault = 'cut';
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('alert').getByText('unavailable', { exact: false }).waitFor();
    await page.getByRole('button', { name: 'admin' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You are still signed in', { exact: false }).first().waitFor();
    expect(await page.getByLabel('API key').count()).toBe(0);
    postgres.fault = 'pass';
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: session.id }).waitFor();
    await live(page);
  });
});
