import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { bodyOf } from '../support/api-client.js';
import { CHROMIUM, live, misdeedsOf, signIn } from '../support/browser.js';
import { setPageStage } from '../support/page-stage.js';

const ASSETS = fileURLToPath(new URL('../../packages/dashboard/dist/assets/', import.meta.url));
const MAX_SCRIPT_BYTES = 250_000;
const ONCE = { retry: { max_retries: 0 }, wait_out_outages: false };

/** What would do something if a place showed it as anything but text. */
const NASTY = `"><img src=x onerror=alert(1)></script><script>alert(2)</script>javascript:alert(3)`;
const TURNED = '\u202eback';
const ACTS_ON_TERMINALS = `red\u001b[31m and ${TURNED}`;

it('the page’s code is 250 kB of gzip at most', () => {
  const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
  const bytes = scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(ASSETS, name))).length, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(MAX_SCRIPT_BYTES);
});

describe.skipIf(CHROMIUM === undefined)('the web page', () => {
  const stage = setPageStage('dashboard_safety');

  const go = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${stage.world.api.url}/dashboard${path}`);
    await live(page);
  };

  /** A halted session, an open letter, and whatever a caller may name in them, which is nasty. */
  async function nastyNight(): Promise<{ id: string; letter: string; fnName: string }> {
    const id = `${NASTY.slice(0, 100)} ${randomUUID()}`;
    const fnName = `undo ${TURNED} ${NASTY}`;
    const spec = { url: `${stage.world.vendor.url}/nasty?q=${encodeURIComponent(NASTY)}`, headers: {}, ...ONCE };
    stage.world.vendor.always('/nasty', { status: 400, body: `<script>alert(4)</script>${ACTS_ON_TERMINALS}` });
    const put = await stage.org.request('PUT', `/v1/compensations/${encodeURIComponent(fnName)}/1`, spec);
    expect(put.status, put.text).toBe(201);
    const texts = { [NASTY]: NASTY, terminal: ACTS_ON_TERMINALS };
    const session = await stage.org.open({
      session_id: id,
      agent_name: NASTY,
      external_run_id: NASTY,
      metadata: texts,
    });
    const args = { ...texts, ref: 'x' };
    const registered = await session.register('/nasty', { tool_name: NASTY, args }, { fn_name: fnName, args: texts });
    await session.commit(registered.effect_id, texts);
    await session.fail(`${NASTY} ${ACTS_ON_TERMINALS}`);
    await session.reaches('halted');
    await stage.org.post(`/v1/compensations/${encodeURIComponent(fnName)}/pause`, { reason: NASTY });
    const [letter] = await stage.org.deadLetters(id);
    return { id, letter: letter!.dead_letter_id, fnName };
  }

  const pagesOf = ({ id, letter }: { id: string; letter: string }): string[] => [
    '/overview?hours=1',
    '/sessions',
    `/sessions/${encodeURIComponent(id)}`,
    '/dead-letters',
    `/dead-letters/${letter}`,
    '/compensations',
    '/audit',
  ];

  it('shows whatever data holds as text, which does nothing', async () => {
    const night = await nastyNight();
    const named = await stage.org.post('/v1/keys', { role: 'operator', name: `${TURNED} ${NASTY}` });
    const page = await signIn(stage.context, stage.world.api.url, bodyOf<{ api_key: string }>(named).api_key);
    const misdeeds = misdeedsOf(page);
    const allAsText = async (where: string): Promise<void> => {
      const text = await page.locator('body').textContent();
      expect(text, where).not.toContain('\u001b');
      expect(text, where).not.toContain('\u202e');
    };
    for (const path of pagesOf(night)) {
      await go(page, path);
      const shown = page.locator('main');
      if (path !== '/overview?hours=1') await shown.getByText('<img src=x', { exact: false }).first().waitFor();
      for (const summary of await shown.locator('summary:visible').all()) await summary.click();
      await page.waitForTimeout(100);
      await allAsText(path);
      expect(await page.locator('main script, main img').count(), path).toBe(0);
      expect((await page.title()).replace(night.id, ''), path).not.toContain('alert');
    }
    await go(page, `/dead-letters/${night.letter}`);
    await page.getByRole('group', { name: 'What to do' }).waitFor();
    for (const key of ['r', 's', 'x', 'e']) {
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      await allAsText(`dialog ${key}`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await go(page, `/dead-letters?fn_name=${encodeURIComponent(night.fnName)}`);
    await page.keyboard.press('b');
    await page.getByText('1 open', { exact: false }).waitFor();
    await allAsText('dialog b');
    expect(misdeeds).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('can be used by everybody, %s', async (colorScheme) => {
    const night = await nastyNight();
    await stage.context.close();
    stage.context = await stage.browser.newContext({ colorScheme, bypassCSP: true });
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    const look = async (where: string): Promise<void> => {
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
      const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      const told = grave.map(({ id, nodes }) => `${where}: ${id} ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
      expect(told).toEqual([]);
    };
    for (const path of pagesOf(night)) {
      await go(page, path);
      await page.locator('h1').waitFor();
      await page.waitForTimeout(300);
      await look(path);
    }
    await go(page, `/dead-letters/${night.letter}`);
    await page.getByRole('group', { name: 'What to do' }).waitFor();
    for (const key of ['r', 'e', 's', 'x', '?']) {
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      await look(`dialog ${key}`);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  it('has no room to scroll sideways on a phone', async () => {
    const night = await nastyNight();
    await stage.context.close();
    stage.context = await stage.browser.newContext({ viewport: { width: 390, height: 844 } });
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    for (const path of pagesOf(night)) {
      await go(page, path);
      await page.waitForTimeout(200);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(width, path).toBeLessThanOrEqual(390);
    }
  });

  it('opens a list of 100,000 sessions within a second, and scrolls on', async () => {
    await stage.world.rows(
      `INSERT INTO undolog_sessions (org_id, session_id, state, on_compensation_failure, body_hash, lease_seconds, max_age_seconds, created_at)
       SELECT $1, 'many-' || lpad(n::text, 6, '0'), 'completed', 'halt', '\\x00', 0, 0, now() - n * interval '1 second'
       FROM generate_series(1, 100000) AS n`,
      stage.org.orgId,
    );
    const page = await signIn(stage.context, stage.world.api.url, stage.org.apiKey);
    await live(page);
    const beganMs = performance.now();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByText('many-000001').waitFor();
    expect(performance.now() - beganMs).toBeLessThan(1_000);
    await page.locator('.data-table .rows').hover();
    for (let n = 0; n < 30; n++) {
      await page.mouse.wheel(0, 3_000);
      await page.waitForTimeout(60);
    }
    const scrolled = (): Promise<number> => page.evaluate(`document.querySelector('.data-table .rows').scrollTop`);
    await expect.poll(scrolled).toBeGreaterThan(30_000);
    expect(await page.getByRole('row').count()).toBeLessThan(100);
  });

  it('keeps no key, and lets nobody in whose key was revoked', async () => {
    const made = bodyOf<{ key_id: string; api_key: string }>(
      await stage.org.post('/v1/keys', { role: 'operator', name: 'n' }),
    );
    const page = await signIn(stage.context, stage.world.api.url, made.api_key);
    await live(page);
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).not.toContain('ul_');
    expect(kept).toContain('""');
    expect(await page.content()).not.toContain(made.api_key);
    await stage.org.request('DELETE', `/v1/keys/${made.key_id}`);
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByLabel('API key').waitFor();
  });

  it('takes no agent’s key, and says why', async () => {
    const { api_key: key } = bodyOf<{ api_key: string }>(await stage.org.post('/v1/keys', { role: 'agent' }));
    const page = await stage.context.newPage();
    await page.goto(`${stage.world.api.url}/dashboard`);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByText('operator or admin', { exact: false }).waitFor();
    expect(await page.getByLabel('API key').inputValue()).toBe('');
  });
});
