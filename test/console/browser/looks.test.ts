import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import type { OnProgress } from '#src/console/operations.js';
import { accessibilityFaults, openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole, type TestConsole } from '../../support/console/console.js';
import { createApplication } from '../../support/console/directory-pages.js';
import { startTestProvider } from '../../support/console/provider.js';
import { freePort } from '../../support/free-ports.js';

// If set, the folder where the tests store screenshots of the pages that they check.
const screenshots = process.env['STRONGROOM_TEST_SCREENSHOTS'];

/**
 * Checks the current page in both themes, at a narrow and a wide width: axe must find no problem, and no content may
 * overflow. The page is not reloaded, because it may be the result of a form or a sign-in.
 */
async function expectGoodLooks(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    // Without transitions, the colors change immediately.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of [360, 1_600]) {
      await page.setViewportSize({ width, height: 900 });
      const where = `${name} ${colorScheme} ${width}`;
      if (screenshots !== undefined) {
        const file = `${name.replaceAll(/\W+/g, '-')}-${colorScheme}-${width}.png`;
        await page.screenshot({ path: join(screenshots, file), fullPage: true });
      }
      expect(await accessibilityFaults(page), where).toEqual([]);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow, where).toBeLessThanOrEqual(0);
      const wideBadges = "[...document.querySelectorAll('.badge')].filter((one) => one.scrollWidth > one.clientWidth)";
      expect(await page.evaluate(`${wideBadges}.map((one) => one.textContent)`), where).toEqual([]);
    }
  }
}

/**
 * Keeps the pages that are opened from now on from reloading while work is running. Otherwise, a page that is checked
 * for longer than two seconds would be replaced during the check. The attribute is removed in the browser, because
 * Playwright does not route the request that follows a redirect, such as the redirect after a form.
 */
async function keepLoaded(page: Page): Promise<void> {
  await page.addInitScript(
    `new MutationObserver(() => document.body?.removeAttribute('data-reload'))
      .observe(document, { childList: true, subtree: true })`,
  );
}

/** Returns how often the browser loaded the page at this path. */
function timesLoaded({ lines }: TestConsole, path: string): number {
  return lines.filter(({ method, route }) => method === 'GET' && route.endsWith(path)).length;
}

/** Starts a console with an identity provider. `ada` may see every page, and `eve` may not sign in. */
async function startWithProvider() {
  const port = await freePort();
  const address = `http://localhost:${port}`;
  const provider = await startTestProvider(address, {
    ada: { name: 'Ada Lovelace', groups: ['everything'] },
    eve: { name: 'Eve', groups: ['unrelated'] },
  });
  const console = await startTestConsole({
    async identityOf(service) {
      const idOf = async (key: string) =>
        String((await service.call('GET', '/applications/key', undefined, { key })).body['id']);
      const [privateId, managementId] = [await idOf(service.key), await idOf(service.managementKey)];
      const tenantRule = {
        tenantId: service.tenantId,
        private: privateId,
        management: managementId,
        isOperator: false,
      };
      const operatorRule = { tenantId: null, private: null, management: null, isOperator: true };
      return provider.identity(service.clock, {
        rules: [
          { group: 'everything', ...tenantRule },
          { group: 'everything', ...operatorRule },
        ],
      });
    },
  });
  await console.listen(port);
  return { console, address };
}

/** Signs in at the provider. Returns when the browser is back at the console. */
async function signInAtProvider(page: Page, address: string, login: string): Promise<void> {
  await page.goto(`${address}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with your identity provider' }).click();
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button').click();
  await page.waitForURL((url) => url.origin === address);
}

test('pages look right, light or dark, wide or narrow', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'customer-1' });
  await console.service.call('POST', '/tokens', { type: 'us_bank_account_number', data: '123456789' });
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  for (const path of ['/', '/tokens', '/session', '/missing', '/sign-in']) {
    await page.goto(address + path);
    await expectGoodLooks(page, `page ${path}`);
  }
  expect(faults).toEqual([]);
});

test('the pages of a sign-in with an identity provider look right', async () => {
  const { address } = await startWithProvider();
  const { page, faults } = await openChromium();
  await page.goto(`${address}/sign-in`);
  await expectGoodLooks(page, 'the choice of how to sign in');
  await signInAtProvider(page, address, 'eve');
  await page.getByText('Your groups do not give access to the console').waitFor();
  await expectGoodLooks(page, 'a rejected sign-in');
  await page.goto(`${address}/sign-in/callback?error=access_denied`);
  await expectGoodLooks(page, 'a failed sign-in');
  expect(faults).toEqual([]);
});

test('the access log, the evidence bundle and the operations page look right', async () => {
  const { console, address } = await startWithProvider();
  const { service } = console;
  const longName = 'Reconciliation of card payments with the ledger, nightly';
  const { key } = await createApplication(console, { name: longName, permissions: ['token:create', 'token:read'] });
  await service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'customer-1' }, { key });
  await service.call('POST', '/tokens', { type: 'token', data: 'second' }, { key });
  await service.call('GET', '/tokens/customer-1', undefined, { key });
  await service.call('DELETE', '/tokens/customer-1', undefined, { key });
  const { page, faults } = await openChromium();
  await keepLoaded(page);
  await signInAtProvider(page, address, 'ada');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto(`${address}/logs`);
  await page.getByText(longName).first().waitFor();
  await page.getByText('More').first().click();
  await expectGoodLooks(page, 'the access log');
  await page.goto(`${address}/operations`);
  await page.getByText('Rebuild directory').click();
  await expectGoodLooks(page, 'operations');
  await page.goto(`${address}/evidence/bundle`);
  await page.getByRole('heading', { name: 'No bundle' }).waitFor();
  await expectGoodLooks(page, 'no bundle');
  for (const [ids, shown] of [
    ['never', 'has ever existed'],
    ['customer-1', 'Download the bundle'],
  ] as const) {
    await page.goto(`${address}/evidence`);
    await page.getByLabel('The ids of one person’s tokens').fill(ids);
    await page.getByRole('button', { name: 'Create the bundle' }).click();
    const isShown = async () => {
      await page.goto(`${address}/evidence/bundle`);
      return page.getByText(shown).isVisible();
    };
    await expect.poll(isShown).toBe(true);
    await expectGoodLooks(page, `a bundle of ${ids}`);
  }
  expect(faults).toEqual([]);
});

test('a bundle that is being made looks right, before and after the size of the log is known', async () => {
  const steps: OnProgress[] = [];
  const console = await startTestConsole({
    operations: {
      bundle: (_caller, _scope, onProgress) => {
        steps.push(onProgress);
        return new Promise(() => undefined);
      },
    },
  });
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await keepLoaded(page);
  await page.goto(`${address}/evidence`);
  await page.getByLabel('From').fill('2026-01-01');
  await page.getByLabel('Before (UTC)').fill('2026-02-01');
  await page.getByRole('button', { name: 'Create the bundle' }).click();
  await page.getByText('The bundle is being created.').waitFor();
  await expectGoodLooks(page, 'a bundle that is being made');
  for (const step of steps) step(400, 1_000);
  await page.goto(`${address}/evidence/bundle`);
  await page.getByText('40% of the log is read').waitFor();
  await expectGoodLooks(page, 'a bundle that is made to forty percent');
  expect(timesLoaded(console, '/evidence/bundle')).toBe(2);
  await page.goto(`${address}/evidence`);
  await page.getByLabel('The ids of one person’s tokens').fill('customer-1');
  await page.getByRole('button', { name: 'Create the bundle' }).click();
  await page.getByText('Another bundle of this tenant is being created').waitFor();
  await expectGoodLooks(page, 'a second bundle at the same time');
  expect(faults).toEqual([]);
});

test('the light or dark appearance that a person chooses is kept, even without JavaScript', async () => {
  const console = await startTestConsole();
  const { page } = await openChromium({ javaScriptEnabled: false });
  const address = await console.listen();
  await page.goto(address);
  const background = async () => {
    // A click returns as soon as the new page begins to load. The page may not have its body and its styles yet.
    await page.waitForLoadState();
    return page.evaluate('getComputedStyle(document.body).backgroundColor');
  };
  const light = await background();
  await page.getByRole('button', { name: 'Dark' }).click();
  expect(await background()).not.toBe(light);
  await signInWith(page, address, console);
  expect(await background()).not.toBe(light);
  await page.getByRole('button', { name: 'Light' }).click();
  expect(await background()).toBe(light);
});

test('with the keyboard alone, a person can reach the content, the query and its completions', async () => {
  const console = await startTestConsole();
  const { page } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens`);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('New token');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.id')).toBe('query');
  // Single keys could come so slowly that the console asks for completions twice. The later list has no choice.
  await page.keyboard.insertText('ty');
  await page.getByRole('option', { name: 'type:' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('combobox').inputValue()).toBe('type:');
  await page.getByRole('option', { name: 'type:card' }).first().waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByRole('option').count()).toBe(0);
});

test('completions that arrive after a person has chosen one, or has left the field, change nothing', async () => {
  const console = await startTestConsole();
  const { page } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens`);
  const query = page.getByRole('combobox');
  await query.focus();
  await page.keyboard.insertText('t');
  await page.getByRole('option', { name: 'type:' }).first().waitFor();

  const completions = `${address}${await query.getAttribute('data-complete')}`;
  /** Types a letter, and returns a function that delivers the completions for it. */
  const type = async (letter: string) => {
    const asked = new Promise<Route>((resolve) => void page.route(completions, resolve, { times: 1 }));
    await page.keyboard.insertText(letter);
    const route = await asked;
    return async () => {
      const arrived = page.waitForResponse(completions);
      await route.continue();
      await (await arrived).finished();
      // The script of the page gets the response in a later task.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))');
    };
  };
  const deliver = await type('y');
  await page.keyboard.press('ArrowDown');
  await deliver();
  await page.keyboard.press('Enter');
  expect(await query.inputValue()).toBe('type:');

  await page.getByRole('option', { name: 'type:card' }).first().waitFor();
  const deliverLater = await type('c');
  await query.blur();
  await deliverLater();
  expect(await page.getByRole('option').count()).toBe(0);
});
