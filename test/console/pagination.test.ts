import { expect, test } from 'vitest';
import { startTestConsole } from '../support/console/console.js';

test('a page beyond the end of a list says so, and does not say that the list is empty', async () => {
  const { service, signIn } = await startTestConsole();
  await service.call('POST', '/tokens', { type: 'token', data: 'x', id: 'one' });
  await service.service.checkpointer.run();
  const browser = await signIn();
  await browser.get('/');
  const pages = [
    await browser.search('/tokens', { query: '', page: '900' }),
    await browser.search('/logs', { page: '900' }),
    await browser.get('/evidence?page=9'),
    await browser.get('/applications?page=9'),
    await browser.get('/tokens/one/history?page=9'),
  ];
  for (const { status, text } of pages) {
    expect(status).toBe(200);
    expect(text).toMatch(/Nothing on this page<\/h[23]><p class="quiet">The list has only 1 page\./);
    expect(text).toContain('Beyond the end of');
    expect(text).not.toMatch(/<table|No tokens|No entries|No checkpoints|Nothing was read|cannot see any tokens/);
  }
});
