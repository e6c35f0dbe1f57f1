import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { Org } from './api-client.js';
import { openBrowser } from './browser.js';
import { openWorld, type World, type WorldOptions } from './world.js';

export interface PageStage {
  world: World;
  browser: Browser;
  /** Of the test that runs. */
  org: Org;
  /** Of the test that runs: nobody is signed in there. */
  context: BrowserContext;
}

/** A world and a browser for the tests around it, and for each of them an org and a browser context of its own. */
export function setPageStage(name: string, options: Omit<WorldOptions, 'name'> = {}): PageStage {
  const stage = {} as PageStage;
  beforeAll(async () => {
    stage.world = await openWorld({ name, ...options });
    stage.browser = await openBrowser();
  });
  afterAll(async () => {
    await stage.browser?.close();
    await stage.world?.close();
  });
  beforeEach(async () => {
    stage.org = await stage.world.newOrg();
    stage.context = await stage.browser.newContext();
  });
  afterEach(() => stage.context.close());
  return stage;
}
