import { expect, test } from 'vitest';
import { openChromium, signInWith } from '../../support/console/chromium.js';
import { startTestConsole, type TestConsole } from '../../support/console/console.js';
import { applicationOf, createApplication, keysOf } from '../../support/console/directory-pages.js';

const number = '4242424242424242';

async function start(console: TestConsole) {
  const card = { number, expiration_month: 12, expiration_year: 2030 };
  await console.service.call('POST', '/tokens', { type: 'card', id: 'card-1', data: card, containers: ['/pci/'] });
  return createApplication(console, { name: 'checkout' });
}

test('a person writes rules, previews a token under them, and saves them', async () => {
  const console = await startTestConsole();
  const { id } = await start(console);
  const { page, faults } = await openChromium();
  await signInWith(page, await console.listen(), console);
  await page.getByRole('link', { name: 'Applications' }).click();
  await page.getByRole('link', { name: 'checkout' }).click();
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Rules for containers').check();
  expect(await page.getByText('Get and list tokens').isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const first = page.getByRole('group', { name: 'Rule 1' });
  // The button loads the page again, and the new page moves the focus. The console's policy forbids `waitForFunction`.
  await page.locator('[name="rules.0.container"]:focus').waitFor();
  await first.getByLabel('read', { exact: true }).check();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const second = page.getByRole('group', { name: 'Rule 2' });
  await second.getByLabel('Container').fill('/pci/');
  await second.getByLabel('Shows').selectOption('redact');
  await second.getByLabel('read', { exact: true }).check();

  await page.getByLabel('Id of a token').fill('card-1');
  await page.getByRole('button', { name: 'Preview' }).click();
  const preview = page.getByRole('group', { name: 'Preview' });
  await preview.getByText('The masked value').waitFor();
  expect(await preview.textContent()).toContain('4242');
  await page.getByRole('button', { name: 'Move rule 2 up' }).click();
  expect(await page.getByLabel('Id of a token').inputValue()).toBe('card-1');
  // Pressing Enter activates a button that stores nothing.
  await page.getByLabel('Id of a token').press('Enter');
  await preview.getByText('No data (redact)').waitFor();
  expect(await preview.textContent()).not.toContain('4242');
  expect(await page.content()).not.toContain(number);
  expect(page.url()).not.toContain('card-1');
  expect((await applicationOf(console, id))['permissions']).toEqual(['token:read']);

  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved. The change applies to every key').waitFor();
  expect((await applicationOf(console, id))['rules']).toMatchObject([
    { container: '/pci/', transform: 'redact' },
    { container: '/', transform: 'mask' },
  ]);
  expect(faults).toEqual([]);
});

test('the same works without JavaScript and on a narrow screen', async () => {
  const console = await startTestConsole();
  const { id } = await start(console);
  const { page } = await openChromium({ javaScriptEnabled: false, width: 360 });
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/applications/${id}`);
  await page.getByLabel('Id of a token').fill('card-1');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('The masked value').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByLabel('Rules for containers').check();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('textbox', { name: 'Container' }).fill('pci');
  await page.getByRole('button', { name: 'Save' }).click();
  expect(await page.getByRole('alert').textContent()).toContain('Nothing was saved');
  expect(await page.content()).toContain('Must be a path such as /pci/high/');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
});

test('a key is issued and copied, and the back button does not show it again', async () => {
  const console = await startTestConsole();
  const { id } = await start(console);
  const { page, context, faults } = await openChromium();
  const address = await console.listen();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  await signInWith(page, address, console);
  await page.goto(`${address}/applications/${id}`);
  await page.getByRole('button', { name: 'Issue a key' }).click();
  const key = (await page.getByRole('textbox', { name: 'API key' }).textContent()) ?? '';
  expect(key).toMatch(/^sr_private_/);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
  await page.getByRole('link', { name: 'I have stored the key' }).click();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  await page.goBack().catch(() => null);
  // While the browser navigates back, the page cannot be read. The poll treats this as if the key were still visible.
  await expect.poll(() => page.content().catch(() => key)).not.toContain(key);
  expect(faults).toEqual([]);
});

test('after a secret is shown, going back or reloading shows another page and issues no second secret', async () => {
  const console = await startTestConsole();
  const { id } = await start(console);
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  const application = `${address}/applications/${id}`;
  const issue = async () => {
    await page.goto(application);
    await page.getByRole('button', { name: 'Issue a key' }).click();
    await page.getByRole('textbox', { name: 'API key' }).waitFor();
  };
  await issue();
  await page.reload();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(page.url()).toBe(application);
  await issue();
  await page.goto(`${address}/tokens`);
  await page.goBack();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  expect(await page.content()).not.toMatch(/sr_private_\w/);
  expect(sent(console, '/keys')).toBe(2);

  await page.goto(`${address}/webhooks/new`);
  await page.getByRole('textbox', { name: 'Address' }).fill('https://receiver.example/hook');
  await page.getByLabel('token.created').check();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('textbox', { name: 'Signing secret' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  await page.getByRole('textbox', { name: 'Signing secret' }).waitFor();
  await page.goto(`${address}/tokens`);
  await page.goBack();
  await page.getByRole('button', { name: 'Rotate the secret' }).waitFor();
  expect(await page.content()).not.toContain('whsec_');
  expect([sent(console, '/webhooks/new'), sent(console, '/secret')]).toEqual([1, 1]);
  expect(faults).toEqual([]);
});

test('a double click sends the form for a key or a secret only once, and the result is shown', async () => {
  const console = await startTestConsole();
  const { id } = await start(console);
  const webhook = { url: 'https://receiver.example/hook', event_types: ['token.created'] };
  const created = await console.service.call('POST', '/webhooks', webhook, { key: console.service.managementKey });
  const { page, faults } = await openChromium();
  const address = await console.listen();
  await signInWith(page, address, console);
  for (const [path, button, shown] of [
    [`/applications/${id}`, 'Issue a key', 'API key'],
    [`/webhooks/${created.body['id']}`, 'Rotate the secret', 'Signing secret'],
  ] as const) {
    const posts: string[] = [];
    const click = async () => {
      await page.mouse.down();
      await page.mouse.up();
    };
    await page.goto(address + path);
    // The second click comes before the first request has a response.
    await page.route(`${address}${path}/*`, async (route) => {
      posts.push(route.request().url());
      if (posts.length === 1) await click();
      await route.continue();
    });
    await page.getByRole('button', { name: button }).hover();
    await click();
    await page.getByRole('textbox', { name: shown }).waitFor();
    expect(posts, path).toHaveLength(1);
  }
  expect(faults).toEqual([]);
});

/** Returns how many forms were sent to routes with this ending. */
function sent({ lines }: TestConsole, ending: string): number {
  return lines.filter(({ method, route }) => method === 'POST' && route.endsWith(ending)).length;
}

test('without JavaScript, sending the form for a key again issues no second key', async () => {
  const console = await startTestConsole();
  const { id } = await start(console);
  const { page } = await openChromium({ javaScriptEnabled: false });
  const address = await console.listen();
  await signInWith(page, address, console);
  await page.goto(`${address}/applications/${id}`);
  await page.getByRole('button', { name: 'Issue a key' }).click();
  const key = (await page.getByRole('textbox', { name: 'API key' }).textContent()) ?? '';
  expect(key).toMatch(/^sr_private_/);
  // Only the script copies a key.
  expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
  // Chromium asks before it sends a form again. Playwright accepts.
  await page.reload();
  await page.getByText('This key has already been shown').waitFor();
  expect(await page.content()).not.toContain(key);
  expect(await keysOf(console, id)).toHaveLength(2);
});
