import { expect, test } from 'vitest';
import { openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';

const number = '4242424242424242';

test('a person creates a card, and its fields are checked while typing; the person reveals it, and it is hidden after a time', async () => {
  const console = await startTestConsole();
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens`);
  await page.getByRole('link', { name: 'New token' }).click();
  await page.getByRole('link', { name: 'Card', exact: true }).click();
  const field = page.getByLabel('Card number');
  await field.fill('4242424242424241');
  await page.getByText('its check digit is wrong').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await field.fill(number);
  await page.getByText('its check digit is wrong').waitFor({ state: 'hidden' });
  expect(await field.getAttribute('aria-invalid')).toBeNull();
  await page.getByLabel('Key 1').fill('order');
  await page.getByLabel('Value 1').fill('o-17');
  await page.getByRole('button', { name: 'Create the token' }).click();
  await page.getByText('The token is stored.').waitFor();
  expect(await page.content()).not.toContain(number);
  const masked = page.url();

  await page.clock.install();
  await page.getByLabel('Reason for viewing the value').fill('The customer called');
  await page.getByRole('button', { name: 'Reveal' }).click();
  await page.getByText(number).waitFor();
  await page.clock.fastForward(31_000);
  await page.getByText('XXXXXXXXXXXX4242').waitFor();
  expect(page.url()).toBe(masked);
  expect(await page.content()).not.toContain(number);
  const stored = await page.evaluate('JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])');
  expect(stored).toBe('[[],[]]');
  expect(faults).toEqual([]);
});

test('a person deletes a token only after typing its id', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number } });
  const { page, faults } = await openChromium({ width: 360 });
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens/one`);
  await page.getByText('Delete this token').click();
  await page.getByLabel('Type the id of the token').fill('two');
  await page.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByText('This is not the id of the token.').waitFor();
  await page.getByLabel('Type the id of the token').fill('one');
  await page.getByRole('button', { name: 'Delete permanently' }).click();
  await page.getByRole('heading', { name: 'The token is gone' }).waitFor();
  expect(faults).toEqual([]);
});

test('without JavaScript, a revealed value disappears from the page on its own', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number } });
  const { page } = await openChromium({ javaScriptEnabled: false });
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens/one`);
  await page.getByLabel('Reason for viewing the value').fill('The customer called');
  await page.getByRole('button', { name: 'Reveal' }).click();
  await page.getByText(number).waitFor();
  await page.getByText('XXXXXXXXXXXX4242').waitFor({ timeout: 45_000 });
  expect(page.url()).toBe(`${address}/tokens/one`);
});

test('after a reveal, going back or reloading shows the masked page and reveals nothing a second time', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number } });
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  const reveal = async () => {
    await page.goto(`${address}/tokens/one`);
    await page.getByLabel('Reason for viewing the value').fill('The customer called');
    await page.getByRole('button', { name: 'Reveal' }).click();
    await page.getByText(number).waitFor();
  };
  await reveal();
  await page.goto(`${address}/tokens`);
  await page.goBack();
  await page.getByText('XXXXXXXXXXXX4242').waitFor();
  expect(await page.content()).not.toContain(number);
  await reveal();
  await page.reload();
  await page.getByText('XXXXXXXXXXXX4242').waitFor();
  expect(await page.content()).not.toContain(number);
  await reveal();
  await page.getByRole('link', { name: 'Hide now' }).click();
  await page.getByText('XXXXXXXXXXXX4242').waitFor();
  await page.goBack();
  expect(await page.content()).not.toContain(number);
  expect(console.lines.filter(({ method, route }) => method === 'POST' && route.endsWith('/reveal'))).toHaveLength(3);
  expect(faults).toEqual([]);
});

test('on a phone, the pages of a token have the same tabs in one row, and no field is wider than its card', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number } });
  const { page } = await openChromium({ width: 375 });
  const address = await console.listen();
  await signInWith(page, address, console);
  const tabs = [];
  for (const path of ['', '/history', '/as-of', '/erasure']) {
    await page.goto(`${address}/tokens/one${path}`);
    tabs.push(await page.evaluate(tabsShown));
    expect(await page.evaluate(fieldsTooWide), path).toEqual([]);
  }
  expect(new Set(tabs.map((shown) => JSON.stringify(shown))).size, JSON.stringify(tabs)).toBe(1);
  expect(tabs[0]).toMatchObject({ rows: 1, labels: ['Token', 'History', 'Earlier state', 'Erasure'] });
});

const tabsShown = `(() => {
  const links = [...document.querySelectorAll('.tabs a')];
  return {
    labels: links.map((link) => link.textContent),
    rows: new Set(links.map((link) => link.getBoundingClientRect().top)).size,
    height: document.querySelector('.tabs').getBoundingClientRect().height,
  };
})()`;

const fieldsTooWide = `[...document.querySelectorAll('.card__body input')]
  .map((input) => [input.id, input.getBoundingClientRect().right])
  .filter(([id, right]) => {
    const body = document.getElementById(id)?.closest('.card__body');
    if (!body) return false;
    return right > body.getBoundingClientRect().right - parseFloat(getComputedStyle(body).paddingRight) + 0.5;
  })`;
