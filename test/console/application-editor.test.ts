import { expect, test } from 'vitest';
import type { JsonObject } from '#src/domain/json.js';
import { startTestConsole, type TestConsole } from '../support/console/console.js';
import {
  applicationOf,
  createApplication,
  hidden,
  hostile,
  keyOn,
  signInLimited,
} from '../support/console/directory-pages.js';

const pageBytesMax = 60_000;

type RuleFields = {
  readonly container?: string;
  readonly transform?: string;
  readonly priority?: string;
  readonly description?: string;
  readonly permissions?: readonly string[];
};

/** Returns the editor's fields for these rules, as a browser would post them. */
function editor(rules: readonly RuleFields[], others: Readonly<Record<string, string>> = {}): URLSearchParams {
  const form = new URLSearchParams({ name: 'shop', expires_at: '', uses: 'rules', ...others });
  for (const [index, rule] of rules.entries()) {
    const {
      container = '/',
      transform = 'mask',
      priority = '1',
      description = '',
      permissions = ['token:read'],
    } = rule;
    for (const [name, value] of Object.entries({ container, transform, priority, description })) {
      form.append(`rules.${index}.${name}`, value);
    }
    for (const permission of permissions) form.append(`rules.${index}.permissions`, permission);
  }
  return form;
}

/** Returns the containers of the rules on the page, in the order of the rules. */
function containersOn(text: string): string[] {
  return [...text.matchAll(/name="rules\.\d+\.container" value="([^"]*)"/g)].map(([, value]) => value ?? '');
}

async function rulesOf(console: TestConsole, id: string): Promise<JsonObject[]> {
  return (await applicationOf(console, id))['rules'] as JsonObject[];
}

test('an application with rules is created, and its key is shown once', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const form = await browser.get('/applications/new');
  expect(containersOn(form.text)).toEqual(['/']);
  const once = hidden(form.text, 'once');
  const fields = editor([{ container: '/PCI/', permissions: ['token:read', 'token:search'], description: 'cards' }], {
    type: 'private',
    do: 'save',
    expires_at: '2030-01-31T12:00',
    once,
  });
  const created = await browser.postAll('/applications/new', fields);
  const key = keyOn(created.text);
  expect(created.status, created.text).toBe(200);
  const own = await console.service.call('GET', '/applications/key', undefined, { key });
  expect(own.body).toMatchObject({
    name: 'shop',
    type: 'private',
    expires_at: '2030-01-31T12:00:00.000+00:00',
    rules: [{ container: '/pci/', transform: 'mask', permissions: ['token:read', 'token:search'], priority: 1 }],
  });
  const again = await browser.postAll('/applications/new', fields);
  expect(keyOn(again.text)).toBe(null);
  expect(again.text).toContain('This key has already been shown');
});

test('a management application accepts only permissions that its type allows and its creator has', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  const form = await browser.get('/applications/new?type=management');
  expect(form.text).toContain('value="log:read"');
  expect(form.text).not.toContain('name="rules.');
  const fields = new URLSearchParams({ name: 'auditor', type: 'management', uses: 'permissions', do: 'save' });
  fields.append('permissions', 'log:read');
  fields.append('once', hidden(form.text, 'once'));
  expect(keyOn((await browser.postAll('/applications/new', fields)).text)).toContain('sr_management_');

  const limited = await signInLimited(console, ['application:create']);
  fields.set('once', hidden((await limited.get('/applications/new?type=management')).text, 'once'));
  expect((await limited.postAll('/applications/new', fields)).status).toBe(403);
});

test('buttons that store nothing add, move and remove rules', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  const path = `/applications/${id}/edit`;
  const before = await console.service.eventCount();
  const { text } = await browser.get(path);
  const version = hidden(text, 'version');
  const press = async (names: readonly string[], button: string) => {
    const rules = names.map((name) => ({ container: `/${name}/` }));
    const answer = await browser.postAll(path, editor(rules, { version, do: button }));
    expect(answer.status).toBe(200);
    return containersOn(answer.text);
  };
  expect(await press(['a', 'b'], 'add')).toEqual(['/a/', '/b/', '/']);
  expect(await press(['a', 'b', 'c'], 'up.2')).toEqual(['/a/', '/c/', '/b/']);
  expect(await press(['a', 'b', 'c'], 'down.0')).toEqual(['/b/', '/a/', '/c/']);
  expect(await press(['a', 'b', 'c'], 'remove.1')).toEqual(['/a/', '/c/']);
  expect(await press(['a', 'b'], 'up.0')).toEqual(['/a/', '/b/']);
  expect(await press(['a'], 'down.7')).toEqual(['/a/']);
  expect(await press(['a'], 'check')).toEqual(['/a/']);
  expect(await console.service.eventCount()).toBe(before);
});

test('the editor shows the API’s errors for a rule next to the rule’s fields, and keeps the input', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  const path = `/applications/${id}/edit`;
  const version = hidden((await browser.get(path)).text, 'version');
  const wrong = editor(
    [{}, { container: 'pci', transform: 'all', priority: 'high', permissions: [], description: 'x'.repeat(201) }],
    { name: '', expires_at: 'tomorrow', do: 'save', version },
  );
  const { status, text } = await browser.postAll(path, wrong);
  expect(status).toBe(400);
  expect(text).toContain('id="c1">Must be a path such as /pci/high/');
  expect(text).toContain('Must be one of redact, mask, reveal.');
  expect(text).toContain('id="p1">Must be a whole number from -9007199254740991 to 9007199254740991.');
  expect(text).toContain('id="d1">Must be a string of at most 200 characters.');
  expect(text).toContain('Choose at least one permission.');
  expect(text).toContain('id="name-error">Must have 1 to 200 characters');
  expect(text).toContain('id="expires_at-error">Must be a date');
  expect(text).toContain('value="tomorrow"');
  expect(text).not.toContain('id="c0"');
  const without = await browser.postAll(path, editor([], { do: 'save', version }));
  expect(without.status).toBe(400);
  expect(without.text).toContain('Must contain 1 to 50 access rules.');
  const many = Array.from({ length: 51 }, () => ({}));
  expect((await browser.postAll(path, editor(many, { do: 'check', version }))).status).toBe(400);
  expect((await applicationOf(console, id))['permissions']).toEqual(['token:read']);
});

test('every priority, name and description that the API accepts can be saved unchanged, and no priority is rounded', async () => {
  const console = await startTestConsole();
  const description = ' all ';
  const rule = {
    description,
    container: '/',
    transform: 'mask',
    permissions: ['token:read'],
    priority: Number.MAX_SAFE_INTEGER,
  };
  const { id } = await createApplication(console, { name: ' shop ', permissions: undefined, rules: [rule] });
  const browser = await console.signIn();
  const path = `/applications/${id}/edit`;
  const page = await browser.get(path);
  expect(page.text).toContain('value=" shop "');
  const save = (name: string, priority: string) =>
    browser.postAll(
      path,
      editor([{ priority, description }], { name, do: 'save', version: hidden(page.text, 'version') }),
    );
  const saved = await save(' shop ', '9007199254740991');
  expect(saved.location, saved.text).toBe(`/applications/${id}`);
  expect(await applicationOf(console, id)).toMatchObject({ name: ' shop ', rules: [rule] });
  const rounded = await save(' shop ', '9007199254740993');
  expect(rounded.status).toBe(400);
  expect(rounded.text).toContain('value="9007199254740993"');
  expect((await save('shop ', '1')).location).toBe(`/applications/${id}`);
  expect((await applicationOf(console, id))['name']).toBe('shop');
});

test('a change is saved; a change to an older state is a conflict until it is sent again', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, { expires_at: '2031-01-31' });
  const [first, second] = [await console.signIn(), await console.signIn()];
  const path = `/applications/${id}/edit`;
  const { text: opened } = await first.get(path);
  await second.get(path);
  const kept = { version: hidden(opened, 'version'), expires_at: hidden(opened, 'expires_at'), do: 'save' };
  expect(kept.expires_at).toContain('2031-01-31');
  console.service.clock.advance(1_000);
  const saved = await first.postAll(path, editor([{ container: '/a/' }], kept));
  expect([saved.status, saved.location]).toEqual([303, `/applications/${id}`]);
  const late = await second.postAll(path, editor([{ container: '/b/' }], kept));
  expect(late.status).toBe(409);
  expect(late.text).toContain('The application has changed since you opened this page');
  expect(containersOn(late.text)).toEqual(['/b/']);
  expect(await rulesOf(console, id)).toMatchObject([{ container: '/a/' }]);
  const again = { ...kept, version: hidden(late.text, 'version') };
  expect((await second.postAll(path, editor([{ container: '/b/' }], again))).status).toBe(303);
  expect(await rulesOf(console, id)).toMatchObject([{ container: '/b/' }]);
  expect((await applicationOf(console, id))['expires_at']).toBe('2031-01-31T00:00:00.000+00:00');
});

test('of two changes that are saved at the same moment, one is a conflict', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  const path = `/applications/${id}/edit`;
  const version = hidden((await browser.get(path)).text, 'version');
  console.service.clock.advance(1_000);
  const save = (container: string) => browser.postAll(path, editor([{ container }], { version, do: 'save' }));
  const answers = await Promise.all([save('/a/'), save('/b/')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
  expect(await rulesOf(console, id)).toMatchObject([{ container: answers[0].status === 303 ? '/a/' : '/b/' }]);
});

test('the last administrator keeps its permissions, and the form explains why', async () => {
  const console = await startTestConsole();
  const { service } = console;
  const own = await service.call('GET', '/applications/key', undefined, { key: service.managementKey });
  const browser = await console.signIn();
  const path = `/applications/${own.body['id']}/edit`;
  const version = hidden((await browser.get(path)).text, 'version');
  const fields = new URLSearchParams({ name: 'admin', uses: 'permissions', do: 'save', version });
  fields.append('permissions', 'application:read');
  const refused = await browser.postAll(path, fields);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('role="alert"');
});

test('a preview shows the decisions and the masked value under the rules before they are saved', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const number = '4242424242424242';
  const card = { number, expiration_month: 12, expiration_year: 2030 };
  await console.service.call('POST', '/tokens', { type: 'card', id: 'card-1', data: card, containers: ['/pci/'] });
  const browser = await console.signIn();
  const path = `/applications/${id}/edit`;
  const { text: opened } = await browser.get(path);
  const ask = (rules: readonly RuleFields[], others: Readonly<Record<string, string>> = {}) => {
    const asked = { version: hidden(opened, 'version'), do: 'preview', token_id: 'card-1', permission: 'token:read' };
    return browser.postAll(path, editor(rules, { ...asked, ...others }));
  };
  const masked = await ask([
    { container: '/pci/', description: 'cards' },
    { container: '/', transform: 'redact' },
  ]);
  expect(masked.status, masked.text).toBe(200);
  expect(masked.text).toContain('The masked value');
  expect(masked.text).toContain('XXXXXXXXXXXX4242');
  expect(masked.text).toContain('<code><bdi>/pci/</bdi></code>');
  const revealed = await ask([{ container: '/pci/', transform: 'reveal' }]);
  expect(revealed.text).toContain('The plaintext (reveal)');
  expect(revealed.text).not.toContain(number);
  expect(revealed.text).toContain('XXXXXXXXXXXX4242');
  const redacted = await ask([{ container: '/pci/', transform: 'redact' }]);
  expect(redacted.text).toContain('No data (redact)');
  expect(redacted.text).not.toContain('4242');
  const none = await ask([{ container: '/other/' }]);
  expect(none.text).toContain('Nothing');
  expect(none.text).not.toContain('4242');
  expect((await ask([{}], { token_id: 'unknown' })).status).toBe(400);
  expect((await ask([{}], { token_id: '' })).text).toContain('Enter a token id.');
  expect((await ask([{ container: 'pci' }])).status).toBe(400);
  expect((await applicationOf(console, id))['permissions']).toEqual(['token:read']);
  expect(JSON.stringify(console.lines)).not.toContain('card-1');

  const saved = await browser.post(`/applications/${id}/preview`, { token_id: 'card-1', permission: 'token:search' });
  expect(saved.status).toBe(200);
  expect(saved.text).toContain('Nothing');
});

test('without a private key, a preview shows the decisions and no value', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  await console.service.call('POST', '/tokens', { type: 'token', id: 'token-1', data: 'top secret' });
  const browser = await console.signIn({ managementKey: console.service.managementKey });
  await browser.get(`/applications/${id}`);
  const shown = await browser.post(`/applications/${id}/preview`, { token_id: 'token-1', permission: 'token:read' });
  expect(shown.status).toBe(200);
  expect(shown.text).toContain('The masked value');
  expect(shown.text).toContain('also sign in with a private key');
  expect(shown.text).not.toContain('<pre class="block">');
  const ofOther = await console.signIn({ managementKey: await console.service.otherManagement() });
  await ofOther.get('/applications');
  expect((await ofOther.post(`/applications/${id}/preview`, { token_id: 'token-1' })).status).toBe(404);
});

test('hostile text in every editor field is shown as text', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  const path = `/applications/${id}/edit`;
  const version = hidden((await browser.get(path)).text, 'version');
  const rule = {
    container: hostile,
    transform: hostile,
    priority: hostile,
    description: hostile,
    permissions: [hostile],
  };
  const fields = { name: hostile, expires_at: hostile, token_id: hostile, permission: hostile, version };
  for (const button of ['check', 'preview', 'save', 'add', hostile]) {
    const { text, status } = await browser.postAll(path, editor([rule], { ...fields, do: button }));
    expect(status, button).toBeLessThan(500);
    expect(text).not.toContain('<img');
    expect(text).toContain('{{ page.csrf }}');
  }
});

test('the editor with fifty rules stays below 60 KB', async () => {
  const console = await startTestConsole();
  const rules = Array.from({ length: 50 }, (_, index) => ({
    description: `${'description of a rule '.repeat(4)}${index}`,
    container: `/a-container-with-a-long-name/and-another-in-it/${index}/`,
    transform: 'mask',
    permissions: ['token:create', 'token:read', 'token:update', 'token:search'],
  }));
  const { id } = await createApplication(console, { permissions: undefined, rules });
  const browser = await console.signIn();
  const { text } = await browser.get(`/applications/${id}/edit`);
  expect(containersOn(text)).toHaveLength(50);
  expect(Buffer.byteLength(text)).toBeLessThan(pageBytesMax);
  const fields = editor(rules, { version: hidden(text, 'version'), do: 'open.30' });
  const opened = await browser.postAll(`/applications/${id}/edit`, fields);
  expect(opened.text.match(/<select name="rules\./g)).toHaveLength(1);
  expect(opened.text).toContain('<select name="rules.30.transform"');
  fields.set('do', 'save');
  fields.set('rules.49.container', '/last/');
  // If a rule is collapsed in the editor, the form sends all its permissions in one field.
  fields.set('rules.49.permissions', hidden(text, 'rules.49.permissions'));
  expect((await browser.postAll(`/applications/${id}/edit`, fields)).status).toBe(303);
  const saved = await rulesOf(console, id);
  expect(saved).toHaveLength(50);
  expect(saved[49]).toMatchObject({ container: '/last/', permissions: rules[49]?.permissions });
});

test('the error for a rule without permissions belongs to the permissions of that rule', async () => {
  const console = await startTestConsole();
  const browser = await console.signIn();
  await browser.get('/applications/new');
  const fields = editor([{}, { permissions: [] }], { type: 'private', do: 'check' });
  const { status, text } = await browser.postAll('/applications/new', fields);
  expect(status).toBe(400);
  expect(text).toContain('aria-label="Permissions" aria-describedby="g1"');
  expect(text).toContain('<p class="field__error" id="g1">');
  expect(text).not.toContain('id="g0"');
});

test('a missing page tells a person where to look, in the words of the console', async () => {
  const console = await startTestConsole();
  const { id } = await createApplication(console, {});
  const browser = await console.signIn();
  for (const [path, advice] of [
    ['/tokens/missing/edit', 'Search for the token on the page “Tokens”.'],
    ['/applications/missing', 'Choose an application on the page “Applications”.'],
    [`/applications/${id}/keys/missing/revoke`, 'The page of the application lists its keys.'],
  ] as const) {
    const missing = await browser.get(path);
    expect([missing.status, missing.text], path).toEqual([404, expect.stringContaining(advice)]);
  }
});
