import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { issueOperatorCode } from '#src/console/sessions.js';
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

/** Returns the id of the focused element, or its role if it has no id. The browser focuses it after the page is loaded. */
async function focused(page: Page): Promise<unknown> {
  await page.locator(':focus').waitFor();
  return page.evaluate('document.activeElement.id || document.activeElement.getAttribute("role")');
}

test('after a rejected form, the focus is on the first field with an error', async () => {
  const { console, page, faults, address } = await open({ width: 390 });
  const { service } = console;
  const card = { number: '4242424242424242' };
  await service.call('POST', '/tokens', { type: 'card', id: 'one', data: card });
  const rejected = async (path: string, form: string, fields: Readonly<Record<string, string>>) => {
    await page.goto(address + path);
    const shown = page.locator(`form[action="${form}"]`).first();
    // The form may be in a section that is closed.
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    for (const [name, value] of Object.entries(fields)) await shown.locator(`[name="${name}"]`).fill(value);
    await Promise.all([page.waitForEvent('load'), shown.locator('button:not([tabindex="-1"])').first().click()]);
    expect(await page.title(), form).toMatch(/^Error: /);
    return focused(page);
  };
  expect(await rejected('/tokens/one', '/tokens/one/delete', { confirm: 'two' })).toBe('confirm');
  expect(await rejected('/tokens/one', '/tokens/one/reveal', { reason: ' ' })).toBe('reason');
  expect(await rejected('/tokens', '/tokens', { query: '(' })).toBe('query');
  expect(await rejected('/logs', '/logs', { from: 'yesterday' })).toBe('from');
  expect(await rejected('/evidence', '/evidence/bundle', { from: 'x', to: '2026-01-01' })).toBe('from');
  expect(await rejected('/tenant', '/tenant', { name: ' ' })).toBe('name');
  await page.goto(`${address}/tokens/one/as-of?at=yesterday`);
  expect(await focused(page)).toBe('at');
  await page.goto(`${address}/tokens/one/edit`);
  await service.call('PATCH', '/tokens/one', { metadata: { order: '1' } });
  await page.getByLabel('Containers').fill('/other/');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Save' }).click()]);
  expect(await focused(page)).toBe('alert');
  const { id } = await createApplication(console, {});
  const preview = { token_id: 'missing' };
  expect(await rejected(`/applications/${id}`, `/applications/${id}/preview`, preview)).toBe('token_id');
  expect(await rejected('/sign-in', '/sign-in', { name: 'Ada', private_key: 'sr_private_wrong' })).toBe('private_key');
  expect(faults).toEqual([]);
});

test('every form marks the fields that it requires, and no others', async () => {
  const { console, page, address } = await open();
  const { service } = console;
  await service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number: '4242424242424242', cvc: '123' } });
  const rule = { description: '', priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] };
  const { id } = await createApplication(console, { permissions: undefined, rules: [rule] });
  const webhook = { url: 'https://shop.example/hook', event_types: ['token.created'] };
  const { body } = await service.call('POST', '/webhooks', webhook, { key: service.managementKey });
  await page.goto(`${address}/sign-in`);
  await page.getByLabel('Operator code').fill(await issueOperatorCode(service.vault));
  await page.getByLabel('Private key').fill(service.key);
  await page.getByLabel('Management key').fill(service.managementKey);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Sign in' }).click()]);
  /** Returns the names of the fields on the page that are marked, after the page is found to mark what it requires. */
  const marked = async (path: string): Promise<unknown> => {
    await page.goto(address + path);
    const [shown, required] = (await page.evaluate(`(() => {
      const isMarked = (one) => getComputedStyle(one, '::after').content.includes('(required)');
      const fields = [...document.querySelectorAll('main :is(input, select, textarea):not([type=hidden])')];
      const names = (ones) => ones.map(({ name }) => name);
      return [
        names(fields.filter(({ labels }) => [...labels].some((one) => [one, ...one.children].some(isMarked)))),
        names(fields.filter((one) => one.required || one.ariaRequired === 'true')),
      ];
    })()`)) as readonly [readonly string[], readonly string[]];
    expect(shown, path).toEqual(required);
    return shown;
  };
  expect(await marked('/new-token?type=card')).toEqual(['number']);
  expect(await marked('/new-token?type=token')).toEqual(['text']);
  expect(await marked('/tokens/one')).toEqual(['reason', 'sure', 'confirm']);
  expect(await marked('/tokens/one/as-of')).toEqual(['at']);
  expect(await marked('/tokens/one/edit')).toEqual([]);
  expect(await marked('/applications/new?type=management')).toEqual(['name']);
  expect(await marked(`/applications/${id}`)).toEqual(['token_id', 'confirmation']);
  const ofRule = ['rules.0.container', 'rules.0.priority'];
  expect(await marked(`/applications/${id}/edit`)).toEqual(['name', ...ofRule]);
  expect(await marked('/webhooks/new')).toEqual(['url']);
  expect(await marked(`/webhooks/${body['id']}`)).toEqual(['from', 'confirmation']);
  expect(await marked('/tenant')).toEqual(['name', 'confirmation']);
  expect(await marked('/operations')).toEqual(['confirm']);
  expect(await marked('/sign-in')).toEqual(['name']);
});

test('a rejected replay of a webhook keeps its input', async () => {
  const { console, page, address } = await open();
  const { service } = console;
  const webhook = { url: 'https://shop.example/hook', event_types: ['token.created'] };
  const { body } = await service.call('POST', '/webhooks', webhook, { key: service.managementKey });
  await page.goto(`${address}/sign-in`);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Management key').fill(service.managementKey);
  await page.getByLabel('Operator code').fill(await issueOperatorCode(service.vault));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto(`${address}/webhooks/${body['id']}`);
  await page.getByLabel('Since').fill('yesterday');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Deliver again' }).click()]);
  expect(await page.getByLabel('Since').inputValue()).toBe('yesterday');
  expect(await focused(page)).toBe('from');
  await page.goto(`${address}/operations`);
  await page.getByLabel('rotate all keys').fill('no');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Rotate all keys' }).click()]);
  expect(await focused(page)).toBe('confirm');
});

test('a link from another site leaves the person’s other tab and the sign-in page usable', async () => {
  const { console, page, address } = await open();
  const { service } = console;
  await service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'one' });
  await page.goto(`${address}/tokens/one/edit`);
  const other = await page.context().newPage();
  await other.route('http://other.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: `<a href="${address}/tokens/one">a token</a>` }),
  );
  await other.goto('http://other.example/');
  await other.getByRole('link').click();
  await other.getByText('You followed a link from another site').waitFor();
  await page.getByLabel('Key 1').fill('customer');
  await page.getByLabel('Value 1').fill('c-17');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('c-17').waitFor();
  await other.getByLabel('Your name').fill('Ada Lovelace');
  await other.getByLabel('Private key').fill(service.key);
  await other.getByRole('button', { name: 'Sign in' }).click();
  await other.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('a download after the session has ended shows the sign-in page, and stores no file', async () => {
  const { console, page, address } = await open();
  await console.service.call('POST', '/tokens', { type: 'token', data: 'first', id: 'one' });
  await page.goto(`${address}/tokens/one`);
  await page.context().clearCookies({ name: '__Host-strongroom-session' });
  await page.getByRole('link', { name: 'Download masked' }).click();
  await page.getByText('You are not signed in. Sign in to see the page.').waitFor();
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Private key').fill(console.service.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'one' }).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download masked' }).click();
  expect((await download).suggestedFilename()).toBe('token-masked.json');
});
