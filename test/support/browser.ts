import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

function find(): string | undefined {
  const named = process.env['CHROMIUM'];
  if (named !== undefined) return named;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** The browser of this machine, or undefined: Debian's package is `chromium`. */
export const CHROMIUM = find();

const WITHOUT_CALLS_HOME = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function openBrowser(): Promise<Browser> {
  // The sandbox of Chromium refuses to run as root, as containers do.
  const args = process.getuid?.() === 0 ? ['--no-sandbox', ...WITHOUT_CALLS_HOME] : WITHOUT_CALLS_HOME;
  return chromium.launch({ executablePath: CHROMIUM!, args });
}

/** A page that is signed in with a key, as a person does it. */
export async function signIn(context: BrowserContext, url: string, apiKey: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(`${url}/dashboard`);
  await page.getByLabel('API key').fill(apiKey);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

/** Nothing is shown twice as fast as it is read: the page waits until the stream is there. */
export async function live(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
}

/** What a page did that it must not: errors, refused scripts and styles, dialogs that data opened. */
export function misdeedsOf(page: Page): string[] {
  const misdeeds: string[] = [];
  page.on('pageerror', (error) => misdeeds.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    misdeeds.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // A refusal by the API is logged by the browser too, and is no fault of the page.
    const refusal = /Failed to load resource/.test(message.text());
    if (message.type() === 'error' && !refusal) misdeeds.push(`console: ${message.text()}`);
  });
  return misdeeds;
}
