import { expect, test } from 'vitest';
import { startTestConsole } from '../support/console/console.js';
import { createApplication, hidden, keyOn } from '../support/console/directory-pages.js';

const number = '4242424242424242';

/** Returns the path with which the script replaces the address of a page that shows a value or a secret. */
function pathInstead(text: string): string {
  return /data-(?:hide|once)-path="([^"]+)"/.exec(text)?.[1] ?? '';
}

test('a reload that posts the form to the path in the address bar, as in Safari, shows the page without the secret', async () => {
  const console = await startTestConsole();
  const { service } = console;
  await service.call('POST', '/tokens', { type: 'card', id: 'one', data: { number } });
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();

  await browser.get('/tokens/one');
  const reason = { reason: 'The customer called', as: 'page' };
  const revealed = await browser.post('/tokens/one/reveal', reason);
  expect(revealed.text).toContain(number);
  const once = { once: hidden((await browser.get(`/applications/${id}`)).text, 'once') };
  const issued = await browser.post(`/applications/${id}/keys`, once);
  expect(keyOn(issued.text)).not.toBeNull();
  const { text } = await browser.get('/webhooks/new');
  const webhook = { once: hidden(text, 'once'), url: 'https://shop.example/hook', event_types: 'token.created' };
  const created = await browser.post('/webhooks/new', webhook);
  expect(created.text).toContain('whsec_');

  for (const [shown, form] of [
    [revealed, reason],
    [issued, once],
    [created, webhook],
  ] as const) {
    const path = pathInstead(shown.text);
    const resent = await browser.post(path, form);
    expect([resent.status, resent.location], path).toEqual([303, path]);
    expect((await browser.get(path)).status, path).toBe(200);
  }
  const reveals = await service.call('GET', '/logs?operation=reveal', undefined, { key: service.managementKey });
  expect(reveals.body['pagination']).toMatchObject({ total_items: 1 });
});
