import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { goBack, openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';
import { createApplication } from '../../support/console/directory-pages.js';

const number = '4242424242424242';

/** Opens a console in Chromium with its back/forward cache. `restored` counts the pages that Chromium has restored. */
async function open() {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number } });
  const { page, faults } = await openChromium({ hasBackForwardCache: true });
  const restored: string[] = [];
  await page.exposeFunction('noteRestored', (path: string) => void restored.push(path));
  await page.addInitScript(
    "addEventListener('pageshow', ({ persisted }) => persisted && noteRestored(location.pathname))",
  );
  const address = await console.listen();
  await signInWith(page, address, console);
  return { console, page, faults, address, restored };
}

async function leave(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Overview' }).first().click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

test('a restored page that revealed a value shows the masked value', async () => {
  const { console, page, faults, address, restored } = await open();
  await page.goto(`${address}/tokens/one`);
  await page.getByLabel('Reason for viewing the value').fill('The customer called');
  await page.getByRole('button', { name: 'Reveal' }).click();
  await page.getByText(number).waitFor();
  await leave(page);
  await goBack(page);
  // Much shorter than the countdown, at whose end the page hides itself.
  await page.getByText('XXXXXXXXXXXX4242').waitFor({ timeout: 10_000 });
  expect(restored).toEqual(['/tokens/one']);
  expect(await page.content()).not.toContain('This is the value in plaintext');
  expect(page.url()).toBe(`${address}/tokens/one`);
  expect(console.lines.filter(({ method, route }) => method === 'POST' && route.endsWith('/reveal'))).toHaveLength(1);
  expect(faults).toEqual([]);
});

test('a restored page that showed a new secret shows the application or the webhook', async () => {
  const { console, page, faults, address, restored } = await open();
  const { id } = await createApplication(console, {});
  await page.goto(`${address}/applications/${id}`);
  await page.getByRole('button', { name: 'Issue a key' }).click();
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
  await leave(page);
  await goBack(page);
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(restored).toEqual([`/applications/${id}`]);

  await page.goto(`${address}/webhooks/new`);
  await page.getByRole('textbox', { name: 'Address' }).fill('https://receiver.example/hook');
  await page.getByLabel('token.created').check();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('textbox', { name: 'Signing secret' }).waitFor();
  await leave(page);
  await goBack(page);
  await page.getByRole('button', { name: 'Rotate the secret' }).waitFor();
  expect(restored).toEqual([`/applications/${id}`, expect.stringMatching(/^\/webhooks\/[\w-]+$/)]);
  expect(faults).toEqual([]);
});

test('a restored search shows its result as it is now', async () => {
  const { console, page, faults, address, restored } = await open();
  await page.goto(`${address}/tokens`);
  await page.getByRole('combobox', { name: 'Query' }).fill('type:card');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('1–1 of 1').waitFor();
  await leave(page);
  await console.service.call('DELETE', '/tokens/one');
  await goBack(page);
  await page.getByText('No token that your application can see matches the query.').waitFor();
  expect(await page.getByRole('combobox', { name: 'Query' }).inputValue()).toBe('type:card');
  expect(restored).toEqual(['/tokens']);
  expect(faults).toEqual([]);
});

test('no page is restored after the session has ended, here or in another browser', async () => {
  const { console, page, faults, address, restored } = await open();
  await page.goto(`${address}/tokens`);
  await leave(page);
  const other = await console.signIn();
  await other.get('/session');
  await other.post('/sign-out-everywhere');
  await goBack(page);
  await page.getByText('Your session has ended.').waitFor();
  expect(restored).toEqual(['/tokens']);

  await signInWith(page, address, console);
  await page.goto(`${address}/tokens`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out.').waitFor();
  await goBack(page);
  await expect.poll(() => page.getByText('You are signed out.').count()).toBe(0);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByRole('table').count()).toBe(0);
  expect(faults).toEqual([]);
});
