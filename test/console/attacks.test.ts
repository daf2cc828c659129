import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postedForm } from '#src/console/application-form.js';
import { issueOperatorCode } from '#src/console/sessions.js';
import { createBrowser, toListener } from '../support/console/browser.js';
import { startTestConsole } from '../support/console/console.js';

const application = { name: 'all', type: 'private', permissions: ['token:read', 'token:search', 'token:delete'] };

describe('a post without the token from its form changes nothing', () => {
  test('if the token is missing, invented or from another session', async () => {
    const { signIn } = await startTestConsole();
    const [browser, other] = [await signIn(), await signIn({ name: 'Eve' })];
    const { text } = await other.get('/session');
    const foreign = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    expect(foreign).not.toBe('');
    for (const csrf of [null, 'invented', foreign]) {
      const answer = await browser.post('/sign-out', {}, { csrf });
      expect([answer.status, answer.text], String(csrf)).toEqual([403, expect.stringContaining('form_expired')]);
    }
    expect((await browser.get('/')).status).toBe(200);
  });

  test('if the browser sends no cookie, as Safari does without TLS', async () => {
    const { service, browser } = await startTestConsole();
    const { text } = await browser().get('/sign-in');
    const csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const answer = await browser().post('/sign-in', { name: 'Ada', private_key: service.key }, { csrf });
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('cookie_missing')]);
    expect(answer.text).toContain('Safari accepts this cookie only over HTTPS');
    expect(answer.text).toContain('href="/sign-in">Back to the form</a>');
  });

  test('if the token is from before the sign-in', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    const { text } = await person.get('/sign-in');
    const before = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    await person.post('/sign-in', { name: 'Ada', private_key: service.key });
    expect((await person.post('/sign-out', {}, { csrf: before })).status).toBe(403);
  });

  test('at the sign-in itself, so that an attacker cannot sign a person in as someone else', async () => {
    const { service, browser } = await startTestConsole();
    const answer = await browser().post('/sign-in', { name: 'Eve', private_key: service.key }, { csrf: null });
    expect(answer.status).toBe(403);
    expect(String(answer.headers['set-cookie'])).not.toContain('strongroom-session=');
  });

  test('if another vault made the token and its cookie, which an attacker planted', async () => {
    const [{ service, browser }, other] = [await startTestConsole(), await startTestConsole()];
    const attacker = other.browser();
    const { text, headers } = await attacker.get('/sign-in');
    const csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    expect([csrf, cookie]).not.toContain('');
    const answer = await browser().post(
      '/sign-in',
      { name: 'Eve', private_key: service.key },
      { csrf, headers: { cookie } },
    );
    expect(answer.status).toBe(403);
  });

  test('if another site sent it, whatever its token is', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/');
    for (const site of ['cross-site', 'same-site']) {
      const answer = await browser.post('/sign-out', {}, { headers: { 'sec-fetch-site': site } });
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('cross_site')]);
    }
    expect((await browser.get('/')).status).toBe(200);
  });
});

test('a session that may have ended changes nothing and starts nothing', async () => {
  let isStale = false;
  const { service, signIn } = await startTestConsole({ readsStaleData: () => isStale });
  await service.call('POST', '/tokens', { id: 'kept', type: 'token', data: 'plaintext-of-kept' });
  const browser = await signIn({ privateKey: service.key, managementKey: service.managementKey, isOperator: true });
  await browser.get('/tokens/kept');
  isStale = true;
  const actions: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['/tokens/kept/delete', { confirm: 'kept', revision: '0' }],
    ['/tokens/kept/reveal', { reason: 'curious' }],
    ['/tokens/kept/reveal', { reason: 'curious', as: 'file' }],
    ['/verification', {}],
    ['/checks', {}],
    ['/operations/rotate', { confirm: 'rotate' }],
    ['/operations/rebuild', { name: 'tokens' }],
    ['/evidence/bundle', { ids: 'kept' }],
    ['/sign-out-everywhere', {}],
  ];
  for (const [path, fields] of actions) {
    const { status, text } = await browser.post(path, fields);
    expect([status, text.includes('A store is unavailable'), text.includes('plaintext-of-kept')], path).toEqual([
      503,
      true,
      false,
    ]);
  }
  isStale = false;
  expect((await browser.get('/tokens/kept')).status).toBe(200);
  expect((await browser.get('/verification')).text).not.toContain('the log is read');
  expect((await browser.get('/evidence/bundle')).text).toContain('No bundle');
  const { body } = await service.call('GET', '/logs?size=100', undefined, { key: service.managementKey });
  const entries = body['data'] as readonly Record<string, unknown>[];
  const done = entries.filter(({ person }) => person !== undefined).map(({ operation }) => operation);
  expect(new Set(done)).toEqual(new Set(['read', 'sign_in']));
});

test.each([
  ['whose key has been revoked', 303],
  ['whose application has lost the permission', 403],
] as const)('a form whose end arrives late in a session %s changes nothing', async (what, expected) => {
  const console = await startTestConsole();
  const { service } = console;
  const management = { key: service.managementKey };
  await service.call('POST', '/tokens', { id: 'kept', type: 'token', data: 'plaintext-of-kept' });
  const created = await service.call('POST', '/applications', application, management);
  const path = `/applications/${created.body['id']}`;
  const signedIn = await console.signIn({ privateKey: String(created.body['key']) });
  const origin = await console.listen();

  async function end(): Promise<void> {
    // The console looks a session up again if the request takes longer than 100 ms.
    await wait(200);
    if (what === 'whose application has lost the permission') {
      const narrower = { name: 'all', permissions: ['token:read'] };
      expect((await service.call('PUT', path, narrower, management)).status).toBe(200);
      return;
    }
    const keys = JSON.parse((await service.call('GET', `${path}/keys`, undefined, management)).text);
    expect((await service.call('DELETE', `${path}/keys/${keys[0].id}`, undefined, management)).status).toBe(204);
  }

  const browser = createBrowser(toListener(origin, end), signedIn.cookies);
  await browser.get('/tokens/kept');
  const answer = await browser.post('/tokens/kept/delete', { confirm: 'kept', revision: '0' });
  expect(answer.status).toBe(expected);
  if (expected === 303) expect(answer.location).toBe('/sign-in');
  expect((await service.call('GET', '/tokens/kept')).status).toBe(200);
});

test('a session that may have ended sees no page and no file', async () => {
  let isStale = false;
  const { service, signIn } = await startTestConsole({ readsStaleData: () => isStale });
  await service.call('POST', '/tokens', { id: 'kept', type: 'token', data: 'plaintext-of-kept' });
  const browser = await signIn();
  const paths = ['/session', '/tokens/kept/file', '/evidence/audit.pub'];
  const statuses = async () => Promise.all(paths.map(async (path) => (await browser.get(path)).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  isStale = true;
  expect(await statuses()).toEqual([503, 503, 503]);
});

describe('every response', () => {
  test.each(['/', '/sign-in', '/tokens', '/missing', '/assets/0/console.css'])(
    'forbids frames, inline scripts and forms that post to other sites: %s',
    async (path) => {
      const { signIn } = await startTestConsole();
      const { headers } = await (await signIn()).get(path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none';script-src 'self';style-src 'self';img-src 'self';connect-src 'self';form-action 'self';" +
          "frame-ancestors 'none';base-uri 'none';require-trusted-types-for 'script'",
      );
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
      });
    },
  );

  test('with a page is not cached, and its cookie is restricted to this host and to TLS and hidden from scripts', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    const form = await person.get('/sign-in');
    const answer = await person.post('/sign-in', { name: 'Ada', private_key: service.key });
    const cookies = [form, answer].flatMap(({ headers }) => headers['set-cookie'] ?? []).map(String);
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual(
      expect.arrayContaining(['__Host-strongroom-csrf', '__Host-strongroom-session']),
    );
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-/);
      for (const attribute of ['Path=/', 'HttpOnly', 'Secure', 'SameSite=Strict']) expect(cookie).toContain(attribute);
      expect(cookie).not.toContain('Domain');
    }
    expect((await person.get('/')).headers['cache-control']).toBe('no-store');
  });
});

test('behind a TLS proxy, a page is served only through the proxy over TLS, and browsers must keep to TLS', async () => {
  const { browser } = await startTestConsole({ trustedProxies: ['10.0.0.4'], behindTlsProxy: true });
  const get = (address: string, scheme: string) =>
    browser().get('/sign-in', { address, headers: { 'x-forwarded-proto': scheme } });
  const page = await get('10.0.0.4', 'https');
  expect(page).toMatchObject({ status: 200, headers: { 'strict-transport-security': 'max-age=31536000' } });
  for (const [address, scheme] of [
    ['10.0.0.5', 'https'],
    ['10.0.0.4', 'http'],
  ] as const) {
    expect((await get(address, scheme)).status, `${address} ${scheme}`).toBe(403);
  }
});

describe('a request for another host (DNS rebinding)', () => {
  test.each(['evil.example', 'console.example.evil.example', 'localhost.evil.example', '127.0.0.1.nip.io'])(
    'is rejected before anything else is done: %s',
    async (host) => {
      const { signIn } = await startTestConsole();
      const browser = await signIn();
      const answer = await browser.get('/tokens', { headers: { host } });
      expect(answer.status).toBe(421);
      expect(answer.text).not.toContain('Ada');
    },
  );

  test.each(['localhost', 'LOCALHOST:8090', '127.0.0.1:8090', '[::1]:8090', 'console.example:443'])(
    'is served under the console’s own names: %s',
    async (host) => {
      const { signIn } = await startTestConsole();
      expect((await (await signIn()).get('/', { headers: { host } })).status).toBe(200);
    },
  );
});

test('no page, address, cookie or log line contains the key', async () => {
  const { service, signIn, lines, browser, failures } = await startTestConsole();
  const keys = [service.key, service.managementKey];
  const person = await signIn();
  const pages = await Promise.all(['/', '/tokens', '/session', '/missing', '/sign-in'].map((path) => person.get(path)));
  const mistaken = browser();
  await mistaken.get('/sign-in');
  // If a person enters a valid key into the wrong field, the page does not repeat the key.
  pages.push(
    await mistaken.post('/sign-in', { name: 'Ada', management_key: service.key, private_key: service.managementKey }),
    await mistaken.post('/sign-in', { name: '', private_key: service.key }),
  );
  const seen = JSON.stringify([pages, lines, failures, [...person.cookies], [...mistaken.cookies]]);
  expect(seen).toContain('Sign in');
  for (const key of keys) expect(seen.includes(key)).toBe(false);
});

test('a key or an operator code in the field for the name is neither shown nor kept', async () => {
  const { service, browser } = await startTestConsole();
  const code = await issueOperatorCode(service.vault);
  for (const name of [service.key, ` my key ${service.managementKey}`, code, code.toLowerCase()]) {
    const person = browser();
    await person.get('/sign-in');
    const answer = await person.post('/sign-in', { name, private_key: service.key });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('This is a key or a code')]);
    expect(answer.text.includes(name.trim())).toBe(false);
  }
});

test('a form without its fields, and an unknown webhook, lead to a message for people', async () => {
  const { browser, signIn } = await startTestConsole();
  const person = browser();
  await person.get('/sign-in');
  expect((await person.post('/sign-in', {})).text).toContain('Enter your name.');
  const signedIn = await signIn();
  await signedIn.get('/webhooks/new');
  expect((await signedIn.post('/webhooks/new', { url: 'https://a.example' })).text).toContain('Open the form again.');
  expect((await signedIn.get('/webhooks/unknown')).text).toContain('Choose a webhook on the page');
});

describe('a large form', () => {
  test.each(['/sign-in', '/theme'])('is rejected unread by a page that needs no session: %s', async (path) => {
    const { browser } = await startTestConsole();
    const person = browser();
    await person.get('/sign-in');
    expect((await person.post(path, { name: 'x'.repeat(17_000) })).status).toBe(413);
  });

  test('is read up to 10,000 fields, because parsing more would stall all callers', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/tokens');
    const fields = Array.from({ length: 300_000 }, (_, index): [string, string] => [index.toString(36), '']);
    const few = new URLSearchParams([...fields.slice(0, 9_000), ['query', 'marker-of-query']]);
    expect((await browser.postAll('/tokens', few)).text).toContain('marker-of-query');
    const many = await browser.postAll('/tokens', new URLSearchParams([...fields, ['query', 'marker-of-query']]));
    expect([many.status, many.text.includes('marker-of-query')]).toEqual([200, false]);
  });

  test('is not read in full if one field has far more items than the vault accepts', async () => {
    const fields = new Map([['rules.0.permissions', [' token:read'.repeat(100_000), 'token:search']]]);
    const values = (name: string) => fields.get(name) ?? [];
    const { rules } = postedForm({ names: [...fields.keys()], values, text: (name) => values(name)[0] ?? '' });
    expect(rules.map(({ permissions }) => permissions.length)).toEqual([99]);

    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { type: 'token', data: 'x', id: 'customer-1' });
    const browser = await signIn();
    await browser.get('/evidence');
    const bundle = await browser.post('/evidence/bundle', { ids: 'customer-1\n'.repeat(100_000) });
    expect(bundle.status).toBe(400);
    const reveal = await browser.post('/tokens/customer-1/reveal', { reason: 'x '.repeat(500_000) });
    expect([reveal.status, Buffer.byteLength(reveal.text) < 60_000]).toEqual([400, true]);
    for (const path of ['/new-token', '/tokens/customer-1/edit']) {
      const rows = Array.from({ length: 4_000 }, (_, index): [string, string] => ['metadata_key', `key-${index}`]);
      const { status, text } = await browser.postAll(path, new URLSearchParams([...rows, ['revision', '0']]));
      expect([status, Buffer.byteLength(text) < 60_000], path).toEqual([400, true]);
    }
    for (const [path, field] of [
      ['/new-token', 'containers'],
      ['/new-token', 'number'],
      ['/new-token', 'metadata_value'],
      ['/tokens/customer-1/edit', 'containers'],
      ['/webhooks/new', 'containers'],
      ['/applications/new', 'rules.0.container'],
      ['/tenant', 'name'],
    ] as const) {
      const typed = { revision: '0', type: path === '/new-token' ? 'card' : 'private' };
      const { status, text } = await browser.post(path, { ...typed, [field]: 'a\n'.repeat(300_000) });
      const isNamed = /must have at most 10000 characters/.test(text);
      expect([status, Buffer.byteLength(text) < 60_000, isNamed], `${path} ${field}`).toEqual([400, true, true]);
    }
  });
});

test('a connection with more than 64 unanswered requests is closed', async () => {
  const { listen } = await startTestConsole();
  const socket = connect(Number(new URL(await listen()).port), '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write('GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200));
  let served = 0;
  socket.on('data', (bytes) => {
    served += String(bytes).split('HTTP/1.1 200').length - 1;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  expect(served).toBeLessThanOrEqual(65);
});

describe('hostile values', () => {
  const markup = `<script>alert(1)</script><img src=x onerror=alert(2)>"'\`&`;
  const hostile = [
    markup,
    '{{ 7 | times: 6 }}{% assign x = 1 %}',
    '\u202Egnp.exe\u2066 hidden \u200Bspace',
    '👩‍👩‍👧 café',
    'x'.repeat(500 * 1024),
  ];

  test('in ids, metadata, containers, data and the person’s name are shown as text', async () => {
    const { service, signIn } = await startTestConsole();
    for (const [index, value] of hostile.entries()) {
      const body = { type: 'token', data: value, mask: '{{ data }}', id: `hostile-${index}` };
      expect((await service.call('POST', '/tokens', body)).status).toBe(201);
    }
    const browser = await signIn({ name: markup.slice(0, 60) });
    const { status, text } = await browser.get('/tokens');
    expect(status).toBe(200);
    expect(text).not.toMatch(/<script>|<img|onerror=alert\(2\)>"/);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).toContain('{{ 7 | times: 6 }}');
    expect(text).toContain('⟨U+202E⟩');
    expect(text).toContain('👩‍👩‍👧');
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
    expect(Buffer.byteLength(text)).toBeLessThan(60 * 1024);
  });

  test.each(hostile)('in a query are shown as text, with an error if the query is invalid', async (value) => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/tokens');
    const { status, text } = await browser.search('/tokens', { query: value, page: '1' });
    expect([200, 400]).toContain(status);
    expect(text).not.toMatch(/<script>|<img/);
    expect(Buffer.byteLength(text)).toBeLessThan(60 * 1024);
  });

  test('in paths and forms lead to a page that describes the problem', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/');
    for (const path of ['/%00', '/%E0%A4%A', '/tokens/%2e%2e%2fmissing', `/${'a'.repeat(5_000)}`, '/<script>']) {
      const { status, text } = await browser.get(path);
      expect([status, text.includes('<script>')], path).toEqual([expect.any(Number), false]);
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(status, path).toBeLessThan(500);
    }
    const large = await browser.post('/tokens', { query: 'x'.repeat(3 * 1024 * 1024) });
    expect(large.status).toBe(413);
    expect(large.text).toContain('The form is too large. A token takes at most 512 KiB.');
    expect(large.text).toContain('href="/tokens">Back to the form');
    const json = await browser.post('/tokens', {}, { headers: { 'content-type': 'application/json' } });
    expect(json.status).toBe(415);
    await browser.get('/');
    expect((await browser.post('/theme', { theme: 'dark', back: '/tokens' })).location).toBe('/tokens');
    expect((await browser.get('/')).text).toContain('data-theme="dark"');
    for (const back of ['//evil.example', '/tokens/\u{1f600}']) {
      expect((await browser.post('/theme', { theme: 'dark', back })).location, back).toBe('/');
    }
    expect((await browser.get('/missing')).text).toContain('href="/tokens"');
  });
});

test('a masked list shows no plaintext and records no reveal, even for a caller that may reveal the tokens', async () => {
  const { service, signIn } = await startTestConsole();
  const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 };
  await service.call('POST', '/tokens', { type: 'card', data: card });
  const browser = await signIn({ privateKey: service.key });
  const { text } = await browser.get('/tokens');
  expect(text).not.toContain('4242424242424242');
  expect(text).toContain('4242');
  const { body } = await service.call('GET', '/logs?operation=reveal', undefined, { key: service.managementKey });
  expect(body['data']).toEqual([]);
});
