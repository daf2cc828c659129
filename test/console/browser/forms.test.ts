import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';
import { createApplication } from '../../support/console/directory-pages.js';

async function open(options: Parameters<typeof openChromium>[0] = {}) {
  const console = await startTestConsole();
  const { page, faults } = await openChromium(options);
  const address = await console.listen();
  await signInWith(page, address, console);
  return { console, page, faults, address };
}

function theme(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.dataset.theme');
}

test.each([true, false])(
  'the theme changes without losing a key that is shown once (script: %s)',
  async (hasScript) => {
    const { console, page, faults, address } = await open({ javaScriptEnabled: hasScript });
    const { id } = await createApplication(console, {});
    await page.goto(`${address}/applications/${id}`);
    await page.getByRole('button', { name: 'Issue a key' }).click();
    const key = page.getByRole('textbox', { name: 'API key' });
    const value = await key.textContent();
    expect(value).toMatch(/^sr_/);
    const changed = page.waitForResponse((response) => response.url() === `${address}/theme`);
    await page.getByRole('button', { name: 'Dark', exact: true }).click();
    expect((await changed).status()).toBe(204);
    expect(await key.textContent()).toBe(value);
    expect(await theme(page)).toBe(hasScript ? 'dark' : 'system');
    await page.goto(`${address}/tokens`);
    expect(await theme(page)).toBe('dark');
    expect(faults).toEqual([]);
  },
);

test('the theme changes without losing what a person typed or the page of a list', async () => {
  const { page, faults, address } = await open();
  await page.goto(`${address}/new-token?type=card`);
  await page.getByLabel('Containers').fill('/pci/');
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  await expect.poll(() => theme(page)).toBe('dark');
  expect(await page.getByLabel('Containers').inputValue()).toBe('/pci/');
  expect(await page.getByRole('button', { name: 'Dark', exact: true }).getAttribute('aria-pressed')).toBe('true');
  expect(page.url()).toBe(`${address}/new-token?type=card`);
  expect(faults).toEqual([]);
});

test('without a script, a change of the theme shows the same page of a list again', async () => {
  const { page, address } = await open({ javaScriptEnabled: false });
  await page.goto(`${address}/applications?page=2`);
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  await page.waitForLoadState();
  expect(page.url()).toBe(`${address}/applications?page=2`);
  expect(await theme(page)).toBe('dark');
});
