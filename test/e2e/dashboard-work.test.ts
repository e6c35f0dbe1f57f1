import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { AgentSession } from '../support/api-client.js';
import { CHROMIUM, live, misdeedsOf, signIn } from '../support/browser.js';
import { setPageStage } from '../support/page-stage.js';

const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };
const MANY = 200;

describe.skipIf(CHROMIUM === undefined)('an operator at the page', () => {
  const stage = setPageStage('dashboard_work');

  /** Two bookings, the second of which was registered with a mistyped reference in its undo. */
  async function haltedByTypo(): Promise<AgentSession> {
    const path = `/refused/${randomUUID()}`;
    stage.world.vendor.script(path, { status: 422 });
    const session = await stage.org.open({ agent_name: 'trip-planner' });
    await session.book('/fine', { tool_name: 'book_flight' });
    const undo = { fn_name: await stage.org.compensation(path, ONCE), args: { ref: 'mistyped' } };
    await session.book(path, { tool_name: 'book_hotel' }, undo);
    await session.fail();
    await session.reaches('halted');
    return session;
  }

  async function press(page: Page, ...keys: string[]): Promise<void> {
    for (const key of keys) await page.keyboard.press(key);
  }

  it('finds what is halted, understands it, corrects it and sees it compensated, by keyboard alone', async () => {
    const session = await haltedByTypo();
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    const misdeeds = misdeedsOf(page);
    await press(page, 'g', 'd');
    await page.getByRole('cell', { name: session.id, exact: true }).waitFor();
    await press(page, 'j', 'Enter');
    await page.getByRole('heading', { name: /broke at position 2/ }).waitFor();
    await page.getByText('the vendor refused (422), so nothing was undone', { exact: false }).first().waitFor();
    const standing = page.getByRole('region', { name: 'What stands' });
    await expect.poll(() => standing.getByRole('listitem').count()).toBe(2);

    await press(page, 'e');
    const args = page.getByLabel('Arguments');
    await args.waitFor();
    expect(JSON.parse(await args.inputValue())).toEqual({ ref: 'mistyped' });
    await press(page, 'Control+a');
    await page.keyboard.type(JSON.stringify({ ref: `${session.id}#2` }));
    await press(page, 'Tab', 'Tab');
    await page.keyboard.type('the reference was mistyped');
    await press(page, 'Enter');
    await page.getByText('Nothing stands: every effect was undone.').waitFor();

    await session.reaches('compensated');
    expect(session.standing()).toEqual([]);
    expect(session.undos().map((call) => JSON.parse(call.body.toString('utf8')) as unknown)).toEqual([
      { ref: 'mistyped' },
      { ref: `${session.id}#2` },
      { ref: `${session.id}#1` },
    ]);
    expect(misdeeds).toEqual([]);
  });

  it('skips with a reason, or resolves with what was done, and is named in the audit log', async () => {
    const [skipped, resolved] = [await haltedByTypo(), await haltedByTypo()];
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${skipped.id}`);
    await page.getByRole('heading', { name: /broke at position 2/ }).waitFor();
    await press(page, 's');
    await page.keyboard.type('the guest keeps the room');
    await press(page, 'Enter');
    await skipped.reaches('compensated');
    expect(skipped.standing()).toEqual([`${skipped.id}#2`]);
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${resolved.id}`);
    await page.getByRole('heading', { name: /broke at position 2/ }).waitFor();
    await press(page, 'x');
    await page.keyboard.type('refunded by phone');
    await press(page, 'Enter');
    await resolved.reaches('resolved');
    await press(page, 'g', 'a');
    for (const why of ['the guest keeps the room', 'refunded by phone']) {
      await page.getByRole('cell', { name: why }).first().waitFor();
    }
  });

  it('asks the vendor, and nothing is sent when the record agrees', async () => {
    const path = `/refused/${randomUUID()}`;
    stage.world.vendor.script(path, { status: 422 });
    const confirm = {
      url: `${stage.world.vendor.url}/record/{args.ref}`,
      done_when: { pointer: '/state', equals: 'cancelled' },
    };
    const session = await stage.org.open();
    const spec = { ...ONCE, confirm: { ...confirm, budget_ms: 200, interval_ms: 50 } };
    await session.book(path, {}, { fn_name: await stage.org.compensation(path, spec) });
    await session.fail();
    await session.reaches('halted');
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    await page.getByRole('heading', { name: /broke at position 1/ }).waitFor();
    await press(page, 'a');
    await page.getByText('does not show it undone', { exact: false }).first().waitFor();
    expect((await session.view()).state).toBe('halted');
    stage.world.vendor.cancelQuietly(stage.org.orgId, `${session.id}#1`);
    await press(page, 'a');
    await page.getByText('Nothing stands: every effect was undone.').waitFor();
    expect(session.undos()).toHaveLength(1);
  });

  it('presses retry in two tabs at once: the vendor is called once', async () => {
    const session = await haltedByTypo();
    const first = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    const second = await stage.context.newPage();
    const tabs = [first, second];
    for (const tab of tabs) {
      await tab.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
      await tab.getByRole('heading', { name: /broke at position 2/ }).waitFor();
      await tab.keyboard.press('r');
      await tab.getByRole('dialog').waitFor();
    }
    // Neither request leaves before both were made.
    const made = new Map<Page, () => void>();
    const both = Promise.all(tabs.map((tab) => new Promise<void>((resolve) => made.set(tab, resolve))));
    for (const tab of tabs) {
      await tab.route('**/retry', async (route) => {
        made.get(tab)!();
        await both;
        await route.continue();
      });
    }
    for (const tab of tabs) await tab.keyboard.press('Enter');
    await both;
    await session.reaches('compensated');
    expect(await session.calledPositions()).toEqual([2, 2, 1]);
    expect(await session.faults()).toEqual([]);
    for (const tab of tabs) await tab.getByText('compensated', { exact: false }).first().waitFor();
  });

  it('sees an unwind live, entry after entry, without touching the page', async () => {
    const session = await stage.org.open();
    for (const path of ['/slow/1', '/slow/2', '/slow/3']) {
      stage.world.vendor.script(path, { delayMs: 700 });
      await session.book(path, { tool_name: path.slice(1) });
    }
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.goto(`${stage.world.api.url}/dashboard/sessions/${session.id}`);
    await live(page);
    const cursor = page.locator('[aria-current="step"] > .position');
    const seen: string[] = [];
    await session.fail();
    for (let rounds = 0; rounds < 200 && !(await page.getByText('Nothing stands').isVisible()); rounds++) {
      const at = (await cursor.allTextContents())[0];
      if (at !== undefined && at !== seen.at(-1)) seen.push(at);
      await page.waitForTimeout(30);
    }
    expect(seen).toEqual(['3', '2', '1']);
  });

  it('drains 200 dead letters at a rate and sees how far it has come', async () => {
    const path = `/many/${randomUUID()}`;
    stage.world.vendor.always(path, { status: 422 });
    const fnName = await stage.org.compensation(path, ONCE);
    const sessions: AgentSession[] = [];
    for (let n = 0; n < MANY; n += 20) {
      const some = Array.from({ length: 20 }, async () => {
        const session = await stage.org.open();
        await session.book(path, {}, { fn_name: fnName });
        await session.fail();
        return session;
      });
      sessions.push(...(await Promise.all(some)));
    }
    for (const session of sessions) await session.reaches('halted');
    stage.world.vendor.heal(path);
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await page.goto(`${stage.world.api.url}/dashboard/dead-letters?fn_name=${encodeURIComponent(fnName)}`);
    await page.getByRole('row').nth(5).waitFor();
    await press(page, 'b');
    await page.getByText(`${MANY} open`).waitFor();
    await page.getByLabel('Calls a second').fill('100');
    await page.getByRole('button', { name: `Retry ${MANY}` }).click();
    const meter = page.getByRole('progressbar');
    await meter.waitFor();
    await page.getByText(`${MANY} of ${MANY} done.`).waitFor();
    expect(await meter.getAttribute('max')).toBe(String(MANY));
    for (const session of sessions) await session.reaches('compensated');
    const keys = sessions.flatMap((session) => session.undos().map(({ key }) => key));
    expect(keys).toHaveLength(2 * MANY);
    expect(new Set(keys).size).toBe(MANY);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Nothing waits for a person.').waitFor();
  });
});
