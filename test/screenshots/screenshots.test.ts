import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveBackends, type Backends } from '@undolog/backends/resolve';
import { live, openBrowser, signIn } from '../support/browser.js';
import { openNight, type Night } from '../support/night.js';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 860 } },
  { name: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

const pagesOf = ({ halted, unwound, letter }: Night): Readonly<Record<string, string>> => ({
  overview: '/overview?hours=1',
  sessions: '/sessions',
  'session-halted': `/sessions/${halted}`,
  'session-compensated': `/sessions/${unwound}`,
  'dead-letters': '/dead-letters',
  'dead-letter': `/dead-letters/${letter}`,
  compensations: '/compensations',
  audit: '/audit',
});

async function settle(page: Page): Promise<void> {
  await live(page);
  await page.waitForTimeout(500);
}

/** The web page, as people see it: light, dark, and on a phone. */
async function shoot(browser: Browser, night: Night, look: (typeof LOOKS)[number]): Promise<Buffer[]> {
  const pictures: Buffer[] = [];
  const { name, ...settings } = look;
  const context = await browser.newContext({ ...settings, locale: 'en-GB', timezoneId: 'UTC' });
  const page = await signIn(context, night.url, night.apiKey);
  for (const [place, path] of Object.entries(pagesOf(night))) {
    await page.goto(`${night.url}/dashboard${path}`);
    await settle(page);
    pictures.push(await page.screenshot({ path: `${FOLDER}${place}-${name}.png` }));
  }
  await page.goto(`${night.url}/dashboard/dead-letters/${night.letter}`);
  await settle(page);
  await page.keyboard.press('e');
  await page.getByRole('dialog').waitFor();
  pictures.push(await page.screenshot({ path: `${FOLDER}correct-${name}.png` }));
  await context.close();
  return pictures;
}

let backends: Backends;
let night: Night;
let browser: Browser;
beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  backends = await resolveBackends({ env: process.env, log: (line) => console.log(line) });
  process.env['DATABASE_URL'] = backends.databaseUrl;
  night = await openNight(backends.redisUrl);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await night?.close();
  await backends?.stop();
});

it.each(LOOKS)('of every page, $name', async (look) => {
  expect(await shoot(browser, night, look)).toHaveLength(9);
});
