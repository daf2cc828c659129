import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { TestConsole } from './console.js';

const executablePath = process.env['STRONGROOM_TEST_CHROMIUM'] ?? '/usr/bin/chromium';
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The flag with which Playwright turns off Chromium's back/forward cache. */
const noBackForwardCache = '--disable-back-forward-cache';

/**
 * Opens Chromium with a new profile, and closes it when the test ends. Script errors and violations of the content
 * security policy are added to `faults`. With `hasBackForwardCache`, Chromium keeps pages and restores them when it goes
 * back, as it does for people. Playwright does not notice such a navigation, so use `goBack` instead of `page.goBack`.
 */
export async function openChromium(
  options: {
    readonly javaScriptEnabled?: boolean;
    readonly hasBackForwardCache?: boolean;
    readonly width?: number;
  } = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext; readonly faults: readonly string[] }> {
  const profile = mkdtempSync(join(tmpdir(), 'strongroom-chromium-'));
  const { javaScriptEnabled = true, hasBackForwardCache = false, width = 1_280 } = options;
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: flags,
    javaScriptEnabled,
    viewport: { width, height: 900 },
    ignoreDefaultArgs: hasBackForwardCache ? [noBackForwardCache] : [],
  });
  onTestFinished(async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  const faults: string[] = [];
  const page = context.pages()[0] ?? (await context.newPage());
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    // Chromium also logs an error for a page with an error status. Such a status is not a fault of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  return { page, context, faults };
}

/**
 * Returns the accessibility problems that axe finds on the current page, except the minor ones, with the affected
 * elements.
 */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations }: AxeResults = await page.evaluate('axe.run()');
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/**
 * Goes back with the browser's back button. Does not wait for the page, because Playwright does not notice that Chromium
 * restores a page from its back/forward cache.
 */
export async function goBack(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  const { currentIndex, entries } = await devTools.send('Page.getNavigationHistory');
  const entry = entries[currentIndex - 1];
  if (entry === undefined) throw new Error('the history has no earlier page');
  await devTools.send('Page.navigateToHistoryEntry', { entryId: entry.id });
  await devTools.detach();
}

/** Signs in on the sign-in page with the keys of the test service. */
export async function signInWith(page: Page, address: string, { service }: TestConsole): Promise<void> {
  await page.goto(address);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Private key').fill(service.key);
  await page.getByLabel('Management key').fill(service.managementKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
