import { expect, test } from 'vitest';
import { logs } from '../http/routes/list-logs/support.js';
import { startTestConsole } from '../support/console/console.js';
import {
  createApplication,
  hidden,
  hostile,
  hostileShown,
  keyOn,
  keysOf,
  signInLimited,
} from '../support/console/directory-pages.js';

const pageBytesMax = 60_000;

test('the list shows each application with its type, its keys and its last use, in pages', async () => {
  const console = await startTestConsole();
  for (let count = 0; count < 20; count += 1) await createApplication(console, { name: `shop ${count}` });
  const { id, key } = await createApplication(console, { name: 'checkout' });
  await console.service.call('GET', '/tokens', undefined, { key });
  const browser = await console.signIn();
  const first = await browser.get('/applications');
  expect(first.status).toBe(200);
  expect(first.text).toContain(`href="/applications/${id}"`);
  expect(first.text).toContain('1–20 of 23');
  expect(first.text).toContain('<time datetime=');
  expect(Buffer.byteLength(first.text)).toBeLessThan(pageBytesMax);
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? [];
  const second = await browser.get(next);
  expect(second.text).toContain('21–23 of 23');
  const [, previous = ''] = /rel="prev" href="([^"]+)"/.exec(second.text) ?? [];
  expect((await browser.get(previous)).text).toContain('1–20 of 23');
  expect((await browser.get('/applications?page=0')).status).toBe(400);
});

test('an application’s page shows its access and its keys, and is recorded as a read by the person', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, { permissions: ['token:read', 'token:search'] });
  const browser = await console.signIn({ name: 'Grace Hopper' });
  const page = await browser.get(`/applications/${id}`);
  expect(page.status).toBe(200);
  expect(page.text).toContain('token:search');
  expect(page.text).toContain('Issue a key');
  expect(keyOn(page.text)).toBe(null);
  await expect
    .poll(() => logs(console.service, { entity_type: 'application', operation: 'read' }))
    .toContainEqual(expect.objectContaining({ entity_id: id, person: 'Grace Hopper' }));
  expect((await browser.get('/applications/unknown')).status).toBe(404);
});

test('a new key is shown in the response to the form, and never again', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  const once = hidden((await browser.get(`/applications/${id}`)).text, 'once');
  const issued = await browser.post(`/applications/${id}/keys`, { once });
  const key = keyOn(issued.text);
  expect(issued.status).toBe(200);
  expect(issued.headers['cache-control']).toBe('no-store');
  expect(issued.headers['set-cookie']).toBeUndefined();
  expect(issued.text).toContain('This is the only time that the key is shown.');
  expect((await console.service.call('GET', '/tokens', undefined, { key })).status).toBe(200);

  const again = await browser.post(`/applications/${id}/keys`, { once });
  expect(again.text).toContain('This key has already been shown');
  expect(keyOn(again.text)).toBe(null);
  expect(await keysOf(console, id)).toHaveLength(2);
  for (const path of [`/applications/${id}`, '/applications', '/', '/session']) {
    expect(keyOn((await browser.get(path)).text), path).toBe(null);
  }
  expect(JSON.stringify([console.lines, console.failures])).not.toContain(key);
});

test('a key is issued only once per form, and a fourth key is a conflict', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  await browser.get('/applications');
  expect((await browser.post(`/applications/${id}/keys`)).status).toBe(400);
  expect((await browser.post(`/applications/${id}/keys`, { once: 'x' })).status).toBe(400);
  const issue = () => browser.post(`/applications/${id}/keys`, { once: crypto.randomUUID() });
  expect([(await issue()).status, (await issue()).status]).toEqual([200, 200]);
  const fourth = await issue();
  expect(fourth.status).toBe(409);
  expect(keyOn(fourth.text)).toBe(null);
  const full = await browser.get(`/applications/${id}`);
  expect(full.text).toContain('At most three keys');
});

test('a rotation first issues a new key, and then leads to the page on which the old key is revoked', async () => {
  const console = await startTestConsole();
  const { id, key: old } = await createApplication(console, {});
  const [{ id: oldId } = { id: '' }] = await keysOf(console, id);
  const browser = await console.signIn();
  const first = await browser.get(`/applications/${id}/keys/${oldId}/rotate`);
  expect(first.text).toContain('Issue the new key');
  const second = await browser.post(`/applications/${id}/keys/${oldId}/rotate`, { once: hidden(first.text, 'once') });
  const fresh = keyOn(second.text);
  expect(second.text).toContain('Step 2 of 2');
  expect(second.text).toContain(`href="/applications/${id}/keys/${oldId}/revoke"`);
  const status = async (key: string | null) =>
    (await console.service.call('GET', '/tokens', undefined, { key })).status;
  expect([await status(old), await status(fresh)]).toEqual([200, 200]);

  const third = await browser.get(`/applications/${id}/keys/${oldId}/revoke`);
  expect(third.text).toContain('Last used');
  const revoked = await browser.post(`/applications/${id}/keys/${oldId}/revoke`);
  expect([revoked.status, revoked.location]).toEqual([303, `/applications/${id}`]);
  expect([await status(old), await status(fresh)]).toEqual([401, 200]);
  expect((await browser.get(`/applications/${id}`)).text).toContain('The key is revoked.');
  expect((await browser.get(`/applications/${id}/keys/${oldId}/revoke`)).status).toBe(404);
  expect((await browser.post(`/applications/${id}/keys/${oldId}/revoke`)).status).toBe(404);
  const late = { once: crypto.randomUUID() };
  expect((await browser.post(`/applications/${id}/keys/${oldId}/rotate`, late)).status).toBe(404);
});

test('an application is deleted only after its name has been typed', async () => {
  const console = await startTestConsole();
  const { id, key } = await createApplication(console, { name: hostile });
  const browser = await console.signIn();
  const page = await browser.get(`/applications/${id}`);
  expect(page.text).toContain(hostileShown);
  expect(page.text).not.toContain('<img');
  expect(page.text).not.toContain('\u202E');
  const wrong = await browser.post(`/applications/${id}/delete`, { confirmation: 'another' });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('The text does not match the name, so nothing was deleted.');
  expect((await browser.post(`/applications/${id}/delete`)).status).toBe(400);
  expect((await console.service.call('GET', '/tokens', undefined, { key })).status).toBe(200);

  // The real name contains an invisible character. A person can type the name as the page shows it.
  const typed = '<img src=x onerror=alert(1)>{{ page.csrf }}⟨U+202E⟩gpj.exe 🔐';
  const deleted = await browser.post(`/applications/${id}/delete`, { confirmation: typed });
  expect([deleted.status, deleted.location]).toEqual([303, '/applications']);
  expect((await console.service.call('GET', '/tokens', undefined, { key })).status).toBe(401);
  expect((await browser.post(`/applications/${id}/delete`, { confirmation: typed })).status).toBe(404);
});

test('the last administrator cannot be deleted, and the session with its key continues', async () => {
  const console = await startTestConsole();
  const { service } = console;
  const own = await service.call('GET', '/applications/key', undefined, { key: service.managementKey });
  const { id, name } = own.body;
  const browser = await console.signIn();
  expect((await browser.get(`/applications/${id}`)).text).toContain('You are signed in with it');
  const refused = await browser.post(`/applications/${id}/delete`, { confirmation: String(name) });
  expect(refused.status).toBe(409);
  expect((await browser.get('/applications')).status).toBe(200);
});

test('without the permission, a session gets neither the page nor the action', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const [{ id: keyId } = { id: '' }] = await keysOf(console, id);
  const reader = await signInLimited(console, ['application:read']);
  const page = await reader.get(`/applications/${id}`);
  expect(page.status).toBe(200);
  for (const action of ['Issue a key', 'Revoke', 'Rotate', 'Delete this application', `${id}/edit`]) {
    expect(page.text).not.toContain(action);
  }
  const once = crypto.randomUUID();
  const posts = [
    `${id}/keys`,
    `${id}/keys/${keyId}/revoke`,
    `${id}/keys/${keyId}/rotate`,
    `${id}/delete`,
    `${id}/edit`,
  ];
  for (const path of posts) {
    expect((await reader.post(`/applications/${path}`, { once, confirmation: 'shop' })).status, path).toBe(403);
  }
  for (const path of [`${id}/edit`, `${id}/keys/${keyId}/revoke`, `${id}/keys/${keyId}/rotate`, 'new']) {
    expect((await reader.get(`/applications/${path}`)).status, path).toBe(403);
  }
  const other = await signInLimited(console, ['log:read']);
  expect((await other.get('/applications')).status).toBe(403);
  const onlyPrivate = await console.signIn({ privateKey: console.service.key });
  expect((await onlyPrivate.get('/applications')).status).toBe(403);
  expect((await console.browser().get('/applications')).location).toBe('/sign-in');
  expect(await keysOf(console, id)).toHaveLength(1);
});

test('a key that may delete applications, but not read them, learns nothing from a form that is not accepted', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, { name: 'shop' });
  const browser = await signInLimited(console, ['application:delete']);
  await browser.get('/session');
  const { status, text } = await browser.post(`/applications/${id}/delete`, { confirmation: 'guess' });
  expect(status).toBe(403);
  expect(text).not.toContain('shop');
});

test('a form that is not accepted shows the application again, which is recorded as a read', async () => {
  const console = await startTestConsole();
  const { service } = console;
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  await browser.get('/session');
  expect((await browser.post(`/applications/${id}/delete`, { confirmation: 'guess' })).status).toBe(400);
  const logs = `/logs?entity_type=application&entity_id=${id}&operation=read`;
  const { body } = await service.call('GET', logs, undefined, { key: service.managementKey });
  expect(body['data']).toMatchObject([{ outcome: 'success', person: 'Ada Lovelace' }]);
});

test('another tenant’s application is unknown', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn({ managementKey: await console.service.otherManagement() });
  expect((await browser.get(`/applications/${id}`)).status).toBe(404);
  expect((await browser.get(`/applications/${id}/edit`)).status).toBe(404);
  expect((await browser.post(`/applications/${id}/delete`, { confirmation: 'shop' })).status).toBe(404);
  expect((await browser.post(`/applications/${id}/keys`, { once: crypto.randomUUID() })).status).toBe(404);
});
