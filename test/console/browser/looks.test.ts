import { expect, test } from 'vitest';
import { accessibilityFaults, openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';

const paths = ['/', '/tokens', '/session', '/missing', '/sign-in'];

test('axe finds no serious problem on any page, light or dark, wide or narrow, and no content overflows', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'customer-1' });
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [360, 1_600]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of paths) {
        await page.goto(address + path);
        const where = `${path} ${colorScheme} ${width}`;
        expect(await accessibilityFaults(page), where).toEqual([]);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, where).toBeLessThanOrEqual(0);
      }
    }
  }
  expect(faults).toEqual([]);
});

test('the light or dark appearance that a person chooses is kept, even without JavaScript', async () => {
  const console = await startTestConsole();
  const { page } = await openChromium({ javaScriptEnabled: false });
  const address = await console.listen();
  await page.goto(address);
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
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
  await page.keyboard.type('ty');
  await page.getByRole('option', { name: 'type:' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('combobox').inputValue()).toBe('type:');
  await page.getByRole('option', { name: 'type:card' }).first().waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByRole('option').count()).toBe(0);
});
