import { describe, expect, test, vi } from 'vitest';
import { issueOperatorCode, sessionsMax } from '#src/console/sessions.js';
import { noLimits } from '#src/vault/limit-settings.js';
import type { TestBrowser } from '../support/console/browser.js';
import { startTestConsole } from '../support/console/console.js';
import { embeddedOnly } from '../support/profile.js';
import type { TestService } from '../support/test-service.js';

const sessionCookie = '__Host-strongroom-session';
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe('a sign-in', () => {
  test('with a private key opens tokens, and nothing that requires a management key', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn({ privateKey: service.key });
    expect((await browser.get('/tokens')).status).toBe(200);
    const overview = await browser.get('/');
    expect(overview.text).toContain('href="/tokens"');
    expect(overview.text).not.toContain('Last hourly checkpoint');
    expect(overview.text).not.toContain('vault.db');
  });

  test('without the key that a page needs is recorded with the person and the token that the page shows', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { type: 'token', id: 'hidden', data: 'x' });
    const browser = await signIn({ name: 'Mallory', managementKey: service.managementKey });
    expect((await browser.get('/tokens/hidden')).status).toBe(403);
    const { body } = await service.call('GET', '/logs?entity_id=hidden&operation=read', undefined, {
      key: service.managementKey,
    });
    expect(body['data']).toEqual([expect.objectContaining({ outcome: 'denied', person: 'Mallory' })]);
  });

  test('with a management key does not open tokens, and explains which key would', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn({ managementKey: service.managementKey });
    const tokens = await browser.get('/tokens');
    expect([tokens.status, tokens.text]).toEqual([403, expect.stringContaining('cannot open this page')]);
    expect(tokens.text).toContain('the key of a private application with the permission token:search.');
    const overview = await browser.get('/');
    expect(overview.text).toContain('Last hourly checkpoint');
    expect(overview.text).not.toContain('href="/tokens"');
  });

  test('gives a missing page a text of the console’s own, with a link to the overview', async () => {
    const { signIn } = await startTestConsole();
    const { status, text } = await (await signIn()).get('/docs');
    expect(status).toBe(404);
    expect(text).toContain('The console has no page at this address.');
    expect(text).toContain('href="/">Overview');
    expect(text).not.toContain('lists all paths');
  });

  test('with a code opens the operator pages, and works only once', async () => {
    const { service, browser } = await startTestConsole();
    const code = await issueOperatorCode(service.vault);
    const first = browser();
    await first.get('/sign-in');
    expect((await first.post('/sign-in', { name: 'Ada', operator_code: code })).status).toBe(303);
    expect((await first.get('/')).text).toContain('Projections');
    const second = browser();
    await second.get('/sign-in');
    const again = await second.post('/sign-in', { name: 'Eve', operator_code: code });
    expect([again.status, again.text]).toEqual([401, expect.stringContaining('was already used')]);
  });

  test('with a code in lower case without hyphens succeeds, and with a code that is five minutes old fails', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    await person.get('/sign-in');
    const code = await issueOperatorCode(service.vault);
    const typed = code.toLowerCase().replaceAll('-', ' ');
    expect((await person.post('/sign-in', { name: 'Ada', operator_code: typed })).status).toBe(303);
    const late = await issueOperatorCode(service.vault);
    service.clock.advance(5 * minuteMs);
    await person.get('/sign-in');
    expect((await person.post('/sign-in', { name: 'Ada', operator_code: late })).status).toBe(401);
  });

  test('with a code succeeds and lasts while the vault knows that its clock is behind', async (context) => {
    embeddedOnly(context, 'a process of a cluster uses MongoDB’s time');
    const { service, browser } = await startTestConsole();
    service.clock.step(-365 * dayMs);
    const person = browser();
    await person.get('/sign-in');
    const code = await issueOperatorCode(service.vault);
    expect((await person.post('/sign-in', { name: 'Ada', operator_code: code })).status).toBe(303);
    for (let quarter = 0; quarter < 4; quarter += 1) {
      service.clock.advance(14 * minuteMs);
      expect((await person.get('/')).status).toBe(200);
    }
  });

  test('with a code that was issued while the clock was ahead fails', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    await person.get('/sign-in');
    service.clock.step(dayMs);
    const code = await issueOperatorCode(service.vault);
    service.clock.step(-dayMs);
    expect((await person.post('/sign-in', { name: 'Ada', operator_code: code })).status).toBe(401);
  });

  test('requires a name without control characters, and at least one key', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    await person.get('/sign-in');
    const attempts = [
      { name: '' },
      { name: 'Ada\u202Egnp' },
      { name: 'x'.repeat(101) },
      { name: '\u034F' },
      {},
    ] as const;
    for (const attempt of attempts) {
      const answer = await person.post('/sign-in', { ...attempt, private_key: service.key });
      expect(answer.status, JSON.stringify(attempt)).toBe(400);
    }
    const without = await person.post('/sign-in', { name: 'Ada' });
    expect([without.status, without.text]).toEqual([400, expect.stringContaining('at least one key')]);
    expect(person.cookies.has(sessionCookie)).toBe(false);
  });

  test('rejects a name that could be a card number, and does not repeat it', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    await person.get('/sign-in');
    for (const name of ['4242424242424242', 'Ada 4242-4242.4242 4242', '４２４２４２４２４２４２']) {
      const answer = await person.post('/sign-in', { name, private_key: service.key });
      expect([answer.status, answer.text], name).toEqual([400, expect.stringContaining('could be a card number')]);
      expect(answer.text).not.toContain(name);
    }
    expect(person.cookies.has(sessionCookie)).toBe(false);
  });

  test('is rejected for a key of the other kind, a key of a public application, or keys of two tenants', async () => {
    const { service, browser } = await startTestConsole();
    const publicKey = await service.application(['token:create'], 'public');
    const attempts = [
      { private_key: service.managementKey },
      { management_key: service.key },
      { private_key: publicKey },
      { private_key: service.key, management_key: await service.otherManagement() },
    ];
    for (const attempt of attempts) {
      const person = browser();
      await person.get('/sign-in');
      expect((await person.post('/sign-in', { name: 'Ada', ...attempt })).status).toBe(401);
      expect(person.cookies.has(sessionCookie)).toBe(false);
    }
  });

  test('names the field for a key that is in the wrong one', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    await person.get('/sign-in');
    const keys = { name: 'Ada', private_key: service.managementKey, management_key: service.key };
    const { text } = await person.post('/sign-in', keys);
    expect(text).toContain('This is a management key. Enter it in the field “Management key”.');
    expect(text).toContain('This is a private key. Enter it in the field “Private key”.');
  });

  test('is limited to a number of wrong keys per address, and a correct key still works', async () => {
    const limits = { ...noLimits, authFailures: 3, windowMs: 10_000 };
    const { service, browser } = await startTestConsole({ limits });
    const person = browser();
    await person.get('/sign-in');
    const statuses: number[] = [];
    for (let guess = 0; guess < 5; guess += 1) {
      statuses.push((await person.post('/sign-in', { name: 'Eve', private_key: `sr_private_${guess}` })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect((await person.post('/sign-in', { name: 'Ada', private_key: service.key })).status).toBe(303);
  });

  test('is needed for a page, and requests without a session are limited per address', async () => {
    const { browser } = await startTestConsole({ limits: { ...noLimits, keylessRequests: 2, windowMs: 10_000 } });
    const person = browser();
    for (const [path, status] of [
      ['/tokens', 303],
      ['/sign-in', 200],
      ['/missing', 404],
    ] as const) {
      const address = `127.0.0.${status % 100}`;
      const statuses: number[] = [];
      for (let request = 0; request < 4; request += 1) statuses.push((await person.get(path, { address })).status);
      expect(statuses, path).toEqual([status, status, 429, 429]);
    }
  });

  test('is recorded with the person’s name, which is sealed in the log and shown in GET /logs', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn({ name: 'Zoë O’Brien' });
    await service.call('POST', '/tokens', { type: 'token', data: 'x', id: 'customer-1' });
    await browser.get('/tokens');
    await browser.post('/sign-out');
    const { body } = await service.call('GET', '/logs?size=100', undefined, { key: service.managementKey });
    const entries = body['data'] as readonly Record<string, unknown>[];
    const ofPerson = entries.filter(({ person }) => person === 'Zoë O’Brien');
    const operations = ofPerson.map(({ entity_type: entity, operation }) => `${entity} ${operation}`);
    expect(operations).toEqual([
      'application sign_out',
      'application sign_out',
      'token read',
      'application sign_in',
      'application sign_in',
    ]);
    expect(ofPerson.every(({ source_address: address }) => address === '127.0.0.1')).toBe(true);
    // The entry for an API request does not contain a person's name.
    expect(entries.find(({ operation }) => operation === 'create')).not.toHaveProperty('person');
  });
});

describe('a session', () => {
  test('with two keys shows its tenant once, because both keys belong to it', async () => {
    const { service, signIn } = await startTestConsole();
    const { text } = await (await signIn()).get('/session');
    expect(text).toContain('Private application');
    expect(text).toContain('Management application');
    expect(text.split(service.tenantId)).toHaveLength(2);
  });

  test('expires after 15 minutes without a request, and continues as long as requests arrive', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn();
    for (let quarter = 0; quarter < 4; quarter += 1) {
      service.clock.advance(14 * minuteMs);
      expect((await browser.get('/')).status).toBe(200);
    }
    service.clock.advance(15 * minuteMs);
    const ended = await browser.get('/');
    expect(ended.location).toBe('/sign-in');
    expect(String(ended.headers['set-cookie'])).toContain('__Host-strongroom-session=; Max-Age=0;');
    expect((await browser.get('/sign-in')).text).toContain('Your session has ended. Sign in again.');
    expect((await browser.get('/sign-in')).text).not.toContain('Your session has ended');
  });

  test('stays open if the clock is set back by less than a minute', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn();
    service.clock.step(-minuteMs / 2);
    expect((await browser.get('/')).status).toBe(200);
  });

  test('that was opened while the clock was ahead ends when the clock is right', async () => {
    const { service, signIn } = await startTestConsole();
    service.clock.step(dayMs);
    const browser = await signIn();
    expect((await browser.get('/')).status).toBe(200);
    service.clock.step(-dayMs);
    expect((await browser.get('/')).location).toBe('/sign-in');
  });

  test.each([
    ['was signed out in another tab', (browser: TestBrowser) => browser.post('/sign-out')],
    ['has expired', async (_: TestBrowser, { clock }: TestService) => clock.advance(15 * minuteMs)],
  ])('that %s saves nothing, and the sign-in page says so', async (_, end) => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/tenant');
    await end(browser, service);
    expect((await browser.post('/tenant', { name: 'Other' })).location).toBe('/sign-in');
    expect((await browser.get('/sign-in')).text).toContain('Your session has ended. Nothing was saved. Sign in again.');
  });

  test.each([
    ['a page of a list', 'GET', '/applications?page=2', '/applications?page=2'],
    ['a form', 'POST', '/applications/new', '/applications/new'],
    ['an action', 'POST', '/tokens/one/reveal', '/tokens/one'],
    ['a download', 'GET', '/evidence/checkpoints.jsonl', '/evidence'],
    ['a search', 'POST', '/tokens/suggestions', '/tokens'],
    ['a sign-out', 'POST', '/sign-out', '/'],
    ['an address that is too long for a cookie', 'GET', `/applications?page=${'2'.repeat(1_000)}`, '/applications'],
  ] as const)('that ends at %s continues there after the next sign-in, once', async (_, method, url, page) => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/session');
    service.clock.advance(15 * minuteMs);
    expect((await (method === 'GET' ? browser.get(url) : browser.post(url))).location).toBe('/sign-in');
    const keys = { name: 'Ada', private_key: service.key };
    await browser.get('/sign-in');
    await browser.post('/sign-in', { name: 'Ada', private_key: 'wrong' });
    expect((await browser.post('/sign-in', keys)).location).toBe(page);
    await browser.get('/sign-in');
    expect((await browser.post('/sign-in', keys)).location).toBe('/');
  });

  test('that the person signed out does not continue anywhere', async () => {
    const { service, signIn, browser } = await startTestConsole();
    const person = browser();
    await person.get('/tokens');
    for (const [name, value] of (await signIn()).cookies) person.cookies.set(name, value);
    await person.get('/session');
    await person.post('/sign-out');
    await person.get('/sign-in');
    expect((await person.post('/sign-in', { name: 'Ada', private_key: service.key })).location).toBe('/');
  });

  test.each(['https://evil.example/', '//evil.example/', '/\\evil.example', '/tokens/\u0000', '/tokens/\u{1f600}'])(
    'does not continue at another site, or at an address that no header may contain: %s',
    async (address) => {
      const { service, browser } = await startTestConsole();
      const person = browser();
      person.cookies.set('__Host-strongroom-return', encodeURIComponent(address));
      await person.get('/sign-in');
      expect((await person.post('/sign-in', { name: 'Ada', private_key: service.key })).location).toBe('/');
    },
  );

  test('is missing for a page: the sign-in page says so, except at the console’s first page', async () => {
    const { browser } = await startTestConsole();
    const person = browser();
    expect((await person.get('/tokens/one')).location).toBe('/sign-in');
    expect((await person.get('/sign-in')).text).toContain('You are not signed in. Sign in to see the page.');
    expect((await person.get('/')).location).toBe('/sign-in');
    expect((await person.get('/sign-in')).text).not.toContain('You are not signed in.');
  });

  test('that a link from another site does not reach: the site cannot choose the page after a sign-in', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    for (const path of ['/tokens/one', '/sign-in']) {
      const arrived = await person.get(path, { headers: { 'sec-fetch-site': 'cross-site' } });
      expect([arrived.status, arrived.headers['refresh']], path).toEqual([200, '0; url=/sign-in']);
      expect(String(arrived.headers['set-cookie']), path).not.toContain('csrf');
      expect((await person.get('/sign-in')).text, path).toContain('You followed a link from another site');
    }
    expect((await person.post('/sign-in', { name: 'Ada', private_key: service.key })).location).toBe('/');
  });

  test('that ended, followed by a link from another site or by a long address, continues at the overview', async () => {
    const { service, browser } = await startTestConsole();
    const keys = { name: 'Ada', private_key: service.key };
    for (const [path, site] of [
      ['/applications', 'cross-site'],
      ['/sign-in', 'cross-site'],
      [`/tokens/${'2'.repeat(1_000)}`, 'same-origin'],
    ] as const) {
      const person = browser();
      await person.get('/logs');
      await person.get(path, { headers: { 'sec-fetch-site': site } });
      await person.get('/sign-in');
      expect((await person.post('/sign-in', keys)).location, path).toBe('/');
    }
  });

  test('that the browser sends with a link from another site to the sign-in page does not end', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    const { status } = await browser.get('/sign-in', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([status, (await browser.get('/')).status]).toEqual([200, 200]);
  });

  test('keeps its form token when a link from another site leads to an address that does not exist', async () => {
    const { browser } = await startTestConsole();
    const { status, headers, text } = await browser().get('/missing', { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([status, headers['set-cookie']]).toEqual([404, undefined]);
    expect(text).toContain('name="_csrf" value=""');
  });

  test('does not accept a form of an earlier session, and leads back to the page of the form', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    for (const [path, page] of [
      ['/applications/new', '/applications/new'],
      ['/tokens/one/reveal', '/tokens/one'],
    ] as const) {
      const { status, text } = await browser.post(path, {}, { csrf: 'other' });
      expect([status, text], path).toEqual([403, expect.stringContaining(`href="${page}">Back to the form</a>`)]);
    }
  });

  test('expires after twelve hours, even if requests keep arriving', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn();
    const locations: (string | null)[] = [];
    for (let at = 10; at <= 12 * 60; at += 10) {
      service.clock.advance(10 * minuteMs);
      locations.push((await browser.get('/session')).location);
    }
    expect(locations.filter((location) => location !== null)).toEqual(['/sign-in']);
    expect(locations.at(-1)).toBe('/sign-in');
  });

  test('is new after each sign-in, and the previous session is closed', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn();
    const before = browser.copy();
    await browser.get('/sign-in');
    await browser.post('/sign-in', { name: 'Ada', private_key: service.key });
    expect(browser.cookies.get(sessionCookie)).not.toBe(before.cookies.get(sessionCookie));
    expect((await before.get('/')).location).toBe('/sign-in');
    expect((await browser.get('/')).status).toBe(200);
  });

  test('that an attacker planted in the browser does not become the person’s session', async () => {
    const { service, browser } = await startTestConsole();
    const person = browser();
    const planted = 'A'.repeat(43);
    person.cookies.set(sessionCookie, planted);
    await person.get('/sign-in');
    await person.post('/sign-in', { name: 'Ada', private_key: service.key });
    const attacker = browser();
    attacker.cookies.set(sessionCookie, planted);
    expect((await attacker.get('/')).location).toBe('/sign-in');
  });

  test('cannot be used again after sign-out', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    const stolen = browser.copy();
    await browser.get('/');
    expect((await browser.post('/sign-out')).location).toBe('/sign-in');
    expect(browser.cookies.has(sessionCookie)).toBe(false);
    expect((await stolen.get('/')).location).toBe('/sign-in');
  });

  test('does not serve a request during which the person signs out', async () => {
    const { service, signIn } = await startTestConsole();
    const person = await signIn();
    // A later request updates the time of the last request, and must not restore the session.
    service.clock.advance(minuteMs);
    const { consoleSessions } = service.vault;
    const { get, take } = consoleSessions;
    vi.spyOn(consoleSessions, 'get').mockImplementationOnce(async (id) => {
      const found = await get(id);
      await take(id);
      return found;
    });
    for (let request = 0; request < 2; request += 1) expect((await person.get('/tokens')).location).toBe('/sign-in');
  });

  test('is closed in all browsers by “sign out everywhere”, but only if it has the same keys', async () => {
    const { service, signIn } = await startTestConsole();
    const other = await service.application(['token:search', 'token:read']);
    const [one, two, unrelated] = [
      await signIn({ privateKey: service.key }),
      await signIn(),
      await signIn({ privateKey: other }),
    ];
    await one.get('/session');
    expect((await one.post('/sign-out-everywhere')).location).toBe('/sign-in');
    expect((await two.get('/')).location).toBe('/sign-in');
    expect((await unrelated.get('/')).status).toBe(200);
  });

  test('is closed by “sign out everywhere” of a session that has only the management key in common', async () => {
    const { service, signIn } = await startTestConsole();
    const [one, both] = [await signIn({ managementKey: service.managementKey }), await signIn()];
    await one.get('/session');
    expect((await one.post('/sign-out-everywhere')).location).toBe('/sign-in');
    expect((await both.get('/')).location).toBe('/sign-in');
  });

  test('is closed if its key then opens a hundred others, and the person’s other key keeps its sessions', async () => {
    const { service, signIn } = await startTestConsole();
    const other = await service.application(['token:search']);
    const unrelated = await signIn({ privateKey: other });
    const [first, second] = [await signIn({ privateKey: service.key }), await signIn({ privateKey: service.key })];
    service.clock.advance(minuteMs);
    expect((await first.get('/')).status).toBe(200);
    for (let more = 2; more < sessionsMax; more += 1) await signIn({ privateKey: service.key });
    const counted = await service.vault.consoleSessions.count();
    await signIn({ privateKey: service.key });
    expect(await service.vault.consoleSessions.count()).toBe(counted);
    expect((await second.get('/')).location).toBe('/sign-in');
    for (const browser of [first, unrelated]) expect((await browser.get('/')).status).toBe(200);
  });

  test('is closed when its only key is revoked, and otherwise loses only that key', async () => {
    const { service, signIn } = await startTestConsole();
    const key = await service.application(['token:search']);
    const [alone, both] = [
      await signIn({ privateKey: key }),
      await signIn({ privateKey: key, managementKey: service.managementKey }),
    ];
    expect((await alone.get('/tokens')).status).toBe(200);
    const { body: own } = await service.call('GET', '/applications/key', undefined, { key });
    const management = { key: service.managementKey };
    const listed = await service.call('GET', `/applications/${own['id']}/keys`, undefined, management);
    const [issued] = JSON.parse(listed.text) as readonly { readonly id: string }[];
    const path = `/applications/${own['id']}/keys/${issued?.id}`;
    const revoked = await service.call('DELETE', path, undefined, management);
    expect(revoked.status).toBe(204);
    expect((await alone.get('/tokens')).location).toBe('/sign-in');
    expect((await both.get('/tokens')).status).toBe(403);
    expect((await both.get('/')).status).toBe(200);
  });

  test('never has more rights than its application has at that moment', async () => {
    const { service, signIn } = await startTestConsole();
    const key = await service.application(['token:search', 'token:read']);
    const browser = await signIn({ privateKey: key });
    expect((await browser.get('/tokens')).status).toBe(200);
    const { body: own } = await service.call('GET', '/applications/key', undefined, { key });
    const narrower = { name: 'another', permissions: ['token:read'] };
    const path = `/applications/${own['id']}`;
    expect((await service.call('PUT', path, narrower, { key: service.managementKey })).status).toBe(200);
    const answer = await browser.get('/tokens');
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('token:search')]);
  });
});
