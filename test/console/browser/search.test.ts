import { expect, test } from 'vitest';
import { openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole } from '../../support/console/console.js';

test('a person signs in, completes a query, searches and signs out', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'customer-1' });
  await console.service.call('POST', '/tokens', { type: 'token', data: 'second', id: 'customer-2' });
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.getByRole('link', { name: 'Tokens' }).click();
  await expect.poll(() => page.getByRole('row').count()).toBe(3);

  const query = page.getByRole('combobox', { name: 'Query' });
  await query.pressSequentially('i');
  await page.getByRole('option', { name: 'id:' }).click();
  await query.pressSequentially('customer-2');
  await page.getByRole('button', { name: 'Search' }).click();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  expect(await page.getByRole('row').nth(1).textContent()).toContain('customer-2');
  expect(page.url()).toMatch(new RegExp(`^${address}/tokens\\?form=[\\w-]+$`));

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(`${address}/tokens`);
  expect(page.url()).toBe(`${address}/sign-in`);
  expect(faults).toEqual([]);
});

test('the arrow keys choose a completion from either end of the list', async () => {
  const console = await startTestConsole();
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens`);
  const query = page.getByRole('combobox', { name: 'Query' });
  await query.pressSequentially('c');
  await page.getByRole('option').nth(2).waitFor();
  const options = await page.getByRole('option').allTextContents();
  const chosen = () => page.locator('[role=option][aria-selected=true]').textContent();
  await query.press('ArrowUp');
  expect(await chosen()).toBe(options.at(-1));
  await query.press('ArrowDown');
  expect(await chosen()).toBe(options[0]);
  await query.press('ArrowUp');
  expect(await chosen()).toBe(options.at(-1));
  expect(faults).toEqual([]);
});

test('the back button returns to the search and to the filtered access log', async () => {
  const console = await startTestConsole();
  for (let i = 0; i < 25; i += 1) {
    await console.service.call('POST', '/tokens', { type: 'token', data: 'x', id: `customer-${i}` });
  }
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/tokens`);
  const query = page.getByRole('combobox', { name: 'Query' });
  await query.fill('type:token');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('21–25 of 25').waitFor();
  await page.getByRole('link', { name: 'customer-3', exact: true }).click();
  await page.getByRole('heading', { name: 'customer-3' }).waitFor();
  await page.goBack();
  await page.getByText('21–25 of 25').waitFor();
  expect(await query.inputValue()).toBe('type:token');
  await page.reload();
  await page.getByText('21–25 of 25').waitFor();
  await page.goBack();
  await page.getByText('1–20 of 25').waitFor();

  await page.goto(`${address}/logs`);
  await page.getByLabel('Operation').selectOption('create');
  await page.getByLabel('Id').fill('customer-7');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('1–1 of 1').waitFor();
  await page.goto(`${address}/session`);
  await page.goBack();
  await page.getByText('1–1 of 1').waitFor();
  expect(page.url()).not.toContain('customer');
  expect(faults).toEqual([]);
});

test('the same works without JavaScript', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'customer-1' });
  const { page } = await openChromium({ javaScriptEnabled: false, width: 360 });
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.getByText('Menu').click();
  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByRole('textbox', { name: 'Query' }).fill('datum:1');
  await page.getByRole('button', { name: 'Search' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('unknown field');
  await page.getByRole('textbox', { name: 'Query' }).fill('id:customer-1');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('link', { name: 'customer-1', exact: true }).click();
  await page.getByRole('heading', { name: 'customer-1' }).waitFor();
  await page.goBack();
  expect(await page.getByRole('textbox', { name: 'Query' }).inputValue()).toBe('id:customer-1');
  await page.reload();
  await page.getByText('1–1 of 1').waitFor();
  await page.goBack();
  expect(await page.getByRole('alert').textContent()).toContain('unknown field');

  await page.goto(`${address}/logs`);
  await page.getByLabel('Operation').selectOption('create');
  await page.getByLabel('Id').fill('customer-1');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('1–1 of 1').waitFor();
  await page.goto(`${address}/session`);
  await page.goBack();
  await page.getByText('1–1 of 1').waitFor();
});
