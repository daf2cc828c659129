import { expect, test } from 'vitest';
import { logs } from '../http/routes/list-logs/support.js';
import { startTestConsole, type TestConsole } from '../support/console/console.js';
import { hidden, hostile, hostileShown, signInLimited } from '../support/console/directory-pages.js';

async function tenantOf({ service }: TestConsole) {
  return (await service.call('GET', '/tenants/self', undefined, { key: service.managementKey })).body;
}

test('the page shows the tenant, its settings and its usage, and the read is recorded', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'token', data: 'first' });
  const browser = await console.signIn({ name: 'Grace Hopper' });
  const page = await browser.get('/tenant');
  expect(page.status).toBe(200);
  expect(page.text).toContain(console.service.tenantId);
  expect(page.text).toContain('<span class="figure">1</span>');
  expect(page.text).toContain('show_fingerprints');
  expect(Buffer.byteLength(page.text)).toBeLessThan(60_000);
  for (const entity of ['tenant', 'report']) {
    await expect
      .poll(() => logs(console.service, { entity_type: entity, operation: 'read' }))
      .toContainEqual(expect.objectContaining({ person: 'Grace Hopper' }));
  }
});

test('the name and the settings are saved, and are shown as text', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const version = hidden((await browser.get('/tenant')).text, 'version');
  const saved = await browser.post('/tenant', { name: hostile, deduplicate_tokens: 'true', version });
  expect([saved.status, saved.location]).toEqual([303, '/tenant']);
  expect(await tenantOf(console)).toMatchObject({
    name: hostile,
    settings: { deduplicate_tokens: 'true', keep_superseded_data: 'false', show_fingerprints: 'false' },
  });
  const { text } = await browser.get('/tenant');
  expect(text).toContain(`<h1><bdi>${hostileShown}</bdi></h1>`);
  expect(text).not.toContain('<img');
  expect(text).not.toContain('Fingerprints are shown.');
  const shown = { name: 'test', show_fingerprints: 'true', version: hidden(text, 'version') };
  expect((await browser.post('/tenant', shown)).status).toBe(303);
  expect((await browser.get('/tenant')).text).toContain('Fingerprints are shown.');
  expect((await tenantOf(console))['settings']).toMatchObject({
    deduplicate_tokens: 'false',
    show_fingerprints: 'true',
  });
});

test('a name with spaces around it does not change when the settings are saved', async () => {
  const console = await startTestConsole();
  const { service } = console;
  await service.call('PUT', '/tenants/self', { name: ' shop ' }, { key: service.managementKey });
  const browser = await console.signIn();
  const version = hidden((await browser.get('/tenant')).text, 'version');
  expect((await browser.post('/tenant', { name: ' shop ', version })).status).toBe(303);
  expect((await tenantOf(console))['name']).toBe(' shop ');
});

test('the error for an invalid name is shown next to the field, and a change to an older state is a conflict', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const version = hidden((await browser.get('/tenant')).text, 'version');
  const invalid = await browser.post('/tenant', { name: '', keep_superseded_data: 'true', version });
  expect(invalid.status).toBe(400);
  expect(invalid.text).toContain('id="name-error">Must have 1 to 200 characters');
  const late = await browser.post('/tenant', { name: 'late', version: '0' });
  expect(late.status).toBe(409);
  expect(late.text).toContain('The tenant has changed since you opened this page');
  expect(late.text).toContain('value="late"');
  expect(await tenantOf(console)).toMatchObject({ name: 'test', settings: { keep_superseded_data: 'false' } });
});

test('of two changes that are saved at the same moment, one is a conflict', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const version = hidden((await browser.get('/tenant')).text, 'version');
  console.service.clock.advance(1_000);
  const answers = await Promise.all(['one', 'two'].map((name) => browser.post('/tenant', { name, version })));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
  expect(await tenantOf(console)).toMatchObject({ name: answers[0]?.status === 303 ? 'one' : 'two' });
});

test('without the permission, a session gets neither the form nor the action', async () => {
  const console = await startTestConsole();
  const reader = await signInLimited(console, ['tenant:read']);
  const { status, text } = await reader.get('/tenant');
  expect(status).toBe(200);
  expect(text).not.toContain('name="show_fingerprints"');
  expect(text).not.toContain('Delete this tenant');
  expect(text).not.toContain('live tokens');
  expect((await reader.post('/tenant', { name: 'x' })).status).toBe(403);
  expect((await reader.post('/tenant/delete', { confirmation: 'test' })).status).toBe(403);
  expect((await (await signInLimited(console, ['log:read'])).get('/tenant')).status).toBe(403);
  expect((await (await console.signIn({ privateKey: console.service.key })).get('/tenant')).status).toBe(403);
});

test('the tenant is deleted only after its name has been typed, and then the session is closed', async () => {
  const console = await startTestConsole();
  await console.service.call('POST', '/tokens', { type: 'token', id: 'token-1', data: 'first' });
  const browser = await console.signIn();
  await browser.get('/tenant');
  const wrong = await browser.post('/tenant/delete', { confirmation: 'tset' });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('The text does not match the name, so nothing was deleted.');
  expect((await console.service.call('GET', '/tokens/token-1')).status).toBe(200);
  const copy = browser.copy();
  const deleted = await browser.post('/tenant/delete', { confirmation: 'test' });
  expect([deleted.status, deleted.location]).toEqual([303, '/sign-in']);
  expect((await browser.get('/sign-in')).text).toContain('The tenant is deleted.');
  expect((await console.service.call('GET', '/tokens/token-1')).status).toBe(401);
  expect((await copy.get('/tenant')).location).toBe('/sign-in');
});

test('a key that may change or delete the tenant, but not read it, learns nothing from a form that is not accepted', async () => {
  const console = await startTestConsole();
  const browser = await signInLimited(console, ['tenant:update', 'tenant:delete', 'report:read']);
  await browser.get('/session');
  for (const [path, form] of [
    ['/tenant', { name: 'late', version: '0' }],
    ['/tenant/delete', { confirmation: 'guess' }],
  ] as const) {
    const { status, text } = await browser.post(path, form);
    expect([path, status]).toEqual([path, 403]);
    expect(text).not.toMatch(/name="show_fingerprints"|<bdi>test<\/bdi>/);
  }
});
