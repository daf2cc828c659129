import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { GroupRule } from '#src/console/groups.js';
import type { IdentityProvider } from '#src/console/identity-provider.js';
import { findSession } from '#src/console/sessions.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { noLimits } from '#src/vault/limit-settings.js';
import type { TestBrowser } from '../support/console/browser.js';
import { startTestConsole } from '../support/console/console.js';
import { hidden } from '../support/console/directory-pages.js';
import { startTestProvider } from '../support/console/provider.js';
import { rule, type TestService } from '../support/test-service.js';

const publicUrl = 'https://console.example';
const sessionCookie = '__Host-strongroom-session';
const signInCookie = '__Host-strongroom-sign-in';
const people = {
  ada: { name: 'Ada Lovelace', groups: ['support', 'unrelated'] },
  eve: { name: 'Eve', groups: ['unrelated'] },
  grace: { name: 'Grace Hopper', groups: ['operators', 'audit', 'support'] },
  linus: { name: 'Linus', groups: 'operators' },
  numbered: { name: 'card 4242 4242 4242 4242', groups: ['support'] },
  '110169484474386276334': { groups: ['support'] },
  nameless: { groups: ['support'] },
  invisible: { name: '\u034F\u0301', groups: ['support'] },
  filler: { name: '\u3164\u2800', groups: ['support'] },
  padded: { name: `${'\u034F'.repeat(100)}a`, groups: ['support'] },
};

/** Returns the ids of three applications, and the group rules that use these ids. */
async function applicationsOf(service: TestService) {
  const idOf = async (key: string) =>
    String((await service.call('GET', '/applications/key', undefined, { key })).body['id']);
  const ids = {
    private: await idOf(service.key),
    narrow: await idOf(await service.application(['token:search'])),
    management: await idOf(service.managementKey),
  };
  const none = { tenantId: service.tenantId, private: null, management: null, isOperator: false };
  const rules: readonly GroupRule[] = [
    { ...none, group: 'support', private: ids.private },
    { ...none, group: 'audit', private: ids.narrow, management: ids.management },
    { group: 'operators', tenantId: null, private: null, management: null, isOperator: true },
  ];
  return { ids, rules };
}

type Ids = Awaited<ReturnType<typeof applicationsOf>>['ids'];

type Options = Parameters<typeof startTestConsole>[0] & {
  readonly rulesOf?: (ids: Ids, tenantId: string) => readonly GroupRule[];
  readonly issuer?: string;
  readonly timeoutSeconds?: number;
};

async function startBoth(options: Options = {}) {
  const { rulesOf, issuer, timeoutSeconds, ...serviceOptions } = options;
  const provider = await startTestProvider(publicUrl, people);
  let ids: Ids = { private: '', narrow: '', management: '' };
  let identity: IdentityProvider | null = null;
  const console = await startTestConsole({
    ...serviceOptions,
    async identityOf(service) {
      const found = await applicationsOf(service);
      ids = found.ids;
      identity = provider.identity(service.clock, {
        rules: rulesOf?.(ids, service.tenantId) ?? found.rules,
        ...(issuer === undefined ? {} : { issuer }),
        ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
      });
      return identity;
    },
  });

  /** Changes the settings for the provider, as if another process with these settings served the requests. */
  function changeIdentity(changes: Partial<Pick<IdentityProvider, 'issuer' | 'rules'>>): void {
    Object.assign(identity ?? {}, changes);
  }

  /** Begins a sign-in, and returns the provider's address that the console sends the browser to. */
  async function begin(browser: TestBrowser): Promise<URL> {
    await browser.get('/sign-in');
    const { status, text } = await browser.post('/sign-in/provider');
    const [, address = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text) ?? [];
    expect([status, address]).toEqual([200, expect.stringContaining(provider.issuer)]);
    return new URL(address.replaceAll('&amp;', '&'));
  }

  /** Signs a person in at the provider. Returns the path and the query of the callback. */
  async function callbackOf(address: URL, login: string): Promise<string> {
    return (await provider.signIn(address.href, login)).slice(publicUrl.length);
  }

  async function signInAs(login: string, browser = console.browser()) {
    const callback = await callbackOf(await begin(browser), login);
    return { browser, callback, answer: await browser.get(callback) };
  }
  return { ...console, provider, ids, changeIdentity, begin, callbackOf, signInAs };
}

describe('a sign-in with the identity provider', () => {
  test('continues on the page that the person asked for', async () => {
    const { browser, signInAs } = await startBoth();
    const person = browser();
    await person.get('/logs?page=2');
    const { answer } = await signInAs('ada', person);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('content="0; url=/logs?page=2"')]);
    await person.post('/sign-out');
    expect((await signInAs('ada', person)).answer.text).toContain('content="0; url=/"');
  });

  test('opens the application of a group, and is recorded with the person and the issuer and without a key', async () => {
    const { service, provider, signInAs } = await startBoth();
    await service.call('POST', '/tokens', { type: 'token', data: 'x', id: 'customer-1' });
    const { browser, answer } = await signInAs('ada');
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('content="0; url=/"')]);
    expect(browser.cookies.has(signInCookie)).toBe(false);
    expect((await browser.get('/tokens')).text).toContain('customer-1');
    const session = await browser.get('/session');
    expect(session.text).toContain('Ada Lovelace');
    expect(session.text).toContain(provider.issuer);
    expect((await browser.get('/operations')).status).toBe(403);
    await browser.get('/session');
    await browser.post('/sign-out');
    const { body } = await service.call('GET', '/logs?size=100', undefined, { key: service.managementKey });
    const entries = (body['data'] as readonly Record<string, unknown>[]).filter(({ person }) => person !== undefined);
    expect(entries.map(({ operation }) => operation)).toEqual(['sign_out', 'read', 'read', 'sign_in']);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['success', 'denied', 'success', 'success']);
    for (const entry of entries) {
      expect(entry).toMatchObject({ person: 'Ada Lovelace', person_issuer: provider.issuer });
      expect(entry).not.toHaveProperty('key_id');
    }
  });

  test('no longer opens anything once another identity provider is configured', async () => {
    const { service, provider, browser, signInAs } = await startBoth();
    const { rules } = await applicationsOf(service);
    const { browser: person } = await signInAs('ada', browser());
    const token = person.cookies.get(sessionCookie) ?? '';
    const found = (issuer: string) => findSession(service.service, { issuer, rules }, token);
    expect(await found(provider.issuer)).toMatchObject({ name: 'Ada Lovelace' });
    expect(await found('https://other.example')).toBe('no_access');
  });

  test('stays open if a process with older settings, during a rolling change, does not know its groups', async () => {
    const { service, provider, changeIdentity, signInAs } = await startBoth();
    const { rules } = await applicationsOf(service);
    const { browser } = await signInAs('ada');
    for (const older of [{ issuer: 'https://other.example' }, { rules: [] }]) {
      changeIdentity(older);
      for (const answer of [await browser.get('/tokens'), await browser.post('/sign-out')]) {
        expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('no_group') });
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
      expect((await browser.get('/unknown')).status).toBe(404);
      changeIdentity({ issuer: provider.issuer, rules });
      expect((await browser.get('/tokens')).status).toBe(200);
    }
  });

  test('by a person in several groups opens the first application of each kind, and the operator pages', async () => {
    const { ids, signInAs } = await startBoth();
    const { browser } = await signInAs('grace');
    const { text } = await browser.get('/session');
    expect(text).toContain(ids.private);
    expect(text).not.toContain(ids.narrow);
    expect(text).toContain(ids.management);
    expect((await browser.get('/')).text).toContain('Projections');
  });

  test('by an operator opens the operator pages and no tokens, even if the claim is a single string', async () => {
    const { signInAs } = await startBoth();
    const { browser } = await signInAs('linus');
    expect((await browser.get('/')).text).toContain('Projections');
    expect((await browser.get('/tokens')).status).toBe(403);
  });

  test('by a person in none of the configured groups is rejected with the reason', async () => {
    const { signInAs } = await startBoth();
    const { browser, answer } = await signInAs('eve');
    expect([answer.status, answer.text]).toEqual([
      403,
      expect.stringContaining('Your groups do not give access to the console'),
    ]);
    expect(answer.text).toContain('href="/sign-in">Sign in');
    expect(browser.cookies.has(sessionCookie)).toBe(false);
  });

  test('does not count an address that the provider has not verified, as a name or as a group', async () => {
    const provider = await startTestProvider(publicUrl, {
      mallory: { email: 'ada@example.com', email_verified: false },
      trudy: { email: 'ada@example.com', email_verified: 'false' },
      ada: { email: 'ada@example.com', email_verified: true },
    });
    const settings = { scopes: ['openid', 'profile', 'groups'], groupsClaim: 'email', nameClaim: 'email' };
    const group = { group: 'ada@example.com', tenantId: null, private: null, management: null, isOperator: true };
    const console = await startTestConsole({
      identityOf: ({ clock }) => provider.identity(clock, { ...settings, rules: [group] }),
    });
    for (const [login, status] of [
      ['mallory', 403],
      ['trudy', 403],
      ['ada', 200],
    ] as const) {
      const browser = console.browser();
      await browser.get('/sign-in');
      const { text } = await browser.post('/sign-in/provider');
      const [, address = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(text) ?? [];
      const back = await provider.signIn(address.replaceAll('&amp;', '&'), login);
      expect([login, (await browser.get(back.slice(publicUrl.length))).status]).toEqual([login, status]);
    }
  });

  test('shows the subject of a person without a name', async () => {
    const { signInAs } = await startBoth();
    for (const login of ['nameless', 'invisible', 'filler', 'padded']) {
      const { browser } = await signInAs(login);
      expect((await browser.get('/session')).text).toContain(login);
    }
  });

  test('shows the subject of a person whose name could be a card number', async () => {
    const { signInAs } = await startBoth();
    const { browser } = await signInAs('numbered');
    const { text } = await browser.get('/session');
    expect(text).toContain('numbered');
    expect(text).not.toContain('4242 4242');
  });

  test('shows a subject that is a long number, because the provider assigns it', async () => {
    const { signInAs } = await startBoth();
    const { browser } = await signInAs('110169484474386276334');
    expect((await browser.get('/session')).text).toContain('110169484474386276334');
  });

  test('sends PKCE, a state and a nonce to the provider, and sets a cookie that gives no access', async () => {
    const { browser, begin, provider } = await startBoth();
    const person = browser();
    const { searchParams } = await begin(person);
    const again = (await begin(browser())).searchParams;
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('redirect_uri')).toBe(`${publicUrl}/sign-in/callback`);
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
      expect(searchParams.get(name)).not.toBe(again.get(name));
    }
    expect(person.cookies.has(signInCookie)).toBe(true);
    expect((await person.get('/')).location).toBe('/sign-in');
    expect((await person.get('/sign-in')).text).toContain(provider.issuer);
    const stored = person.cookies.get(signInCookie) ?? '';
    person.cookies.set(sessionCookie, stored);
    expect((await person.get('/')).location).toBe('/sign-in');
  });

  test('is neither offered nor served without an identity provider', async () => {
    const { browser } = await startTestConsole();
    const person = browser();
    expect((await person.get('/sign-in')).text).not.toContain('identity provider');
    expect((await person.post('/sign-in/provider')).status).toBe(404);
    expect((await person.get('/sign-in/callback?code=x')).status).toBe(404);
  });
});

describe('a callback is rejected', () => {
  test('with another state, and the sign-in cannot be used again', async () => {
    const { browser, begin, callbackOf, failures } = await startBoth();
    const person = browser();
    const callback = await callbackOf(await begin(person), 'ada');
    const copy = person.copy();
    const changed = await person.get(callback.replace(/state=[^&]+/, 'state=other'));
    expect([changed.status, changed.text]).toEqual([401, expect.stringContaining('sign_in_rejected')]);
    expect(failures).toEqual([expect.objectContaining({ code: 'OAUTH_INVALID_RESPONSE' })]);
    expect((await copy.get(callback)).status).toBe(400);
    expect(copy.cookies.has(sessionCookie)).toBe(false);
  });

  test('with an ID token for another nonce', async () => {
    const { browser, begin, callbackOf, failures } = await startBoth();
    const person = browser();
    const address = await begin(person);
    address.searchParams.set('nonce', 'n'.repeat(43));
    const answer = await person.get(await callbackOf(address, 'ada'));
    expect([answer.status, person.cookies.has(sessionCookie)]).toEqual([401, false]);
    expect(failures.at(-1)).toMatchObject({ code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' });
  });

  test('with an ID token that the provider’s published keys did not sign', async () => {
    const { browser, provider, signInAs, failures } = await startBoth();
    await provider.publishOtherKeys();
    const person = browser();
    const { answer } = await signInAs('ada', person);
    expect([answer.status, person.cookies.has(sessionCookie)]).toEqual([401, false]);
    expect(failures.at(-1)).toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' });
  });

  test('with a code from another sign-in, because it belongs to another code verifier', async () => {
    const { browser, begin, callbackOf, failures } = await startBoth();
    const [attacker, victim] = [browser(), browser()];
    const stolen = new URLSearchParams((await callbackOf(await begin(victim), 'grace')).split('?')[1]);
    const own = await callbackOf(await begin(attacker), 'eve');
    const answer = await attacker.get(own.replace(/code=[^&]+/, `code=${stolen.get('code')}`));
    expect([answer.status, attacker.cookies.has(sessionCookie)]).toEqual([401, false]);
    expect(failures.at(-1)).toMatchObject({ code: 'invalid_grant' });
  });

  test('when it is replayed in the same browser, or in a browser with copied cookies', async () => {
    const { browser, begin, callbackOf } = await startBoth();
    const person = browser();
    const callback = await callbackOf(await begin(person), 'ada');
    const copy = person.copy();
    expect((await person.get(callback)).status).toBe(200);
    for (const one of [person, copy]) {
      const answer = await one.get(callback);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('sign_in_expired')]);
    }
  });

  test('after ten minutes', async () => {
    const { service, browser, begin, callbackOf } = await startBoth();
    const person = browser();
    const callback = await callbackOf(await begin(person), 'ada');
    service.clock.advance(10 * 60_000);
    expect([(await person.get(callback)).status, person.cookies.has(sessionCookie)]).toEqual([400, false]);
  });

  test('in a browser that did not begin the sign-in, so that a person is not signed in as the attacker', async () => {
    const { browser, begin, callbackOf } = await startBoth();
    const callback = await callbackOf(await begin(browser()), 'ada');
    const victim = browser();
    expect([(await victim.get(callback)).status, victim.cookies.has(sessionCookie)]).toEqual([400, false]);
    await begin(victim);
    expect([(await victim.get(callback)).status, victim.cookies.has(sessionCookie)]).toEqual([401, false]);
  });

  test('with the token of a session in place of the token of a sign-in', async () => {
    const { browser, signInAs, begin, callbackOf } = await startBoth();
    const { browser: person } = await signInAs('ada');
    const callback = await callbackOf(await begin(browser()), 'ada');
    person.cookies.set(signInCookie, person.cookies.get(sessionCookie) ?? '');
    const { status, text } = await person.get(callback);
    expect([status, text]).toEqual([400, expect.stringContaining('sign_in_expired')]);
  });

  test('when it names another issuer, or no issuer (mix-up)', async () => {
    const { browser, begin, callbackOf, failures } = await startBoth();
    for (const change of ['&iss=https%3A%2F%2Fother.example', '']) {
      const person = browser();
      const callback = await callbackOf(await begin(person), 'ada');
      expect(callback).toContain('&iss=');
      const answer = await person.get(callback.replace(/&iss=[^&]+/, change));
      expect([answer.status, person.cookies.has(sessionCookie)]).toEqual([401, false]);
      expect(failures.at(-1)).toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' });
    }
  });

  test('when it comes from another provider with the same client', async () => {
    const { browser, begin, failures } = await startBoth();
    const other = await startTestProvider(publicUrl, people);
    const person = browser();
    const address = await begin(person);
    const diverted = address.href.replace(address.origin, other.issuer);
    const callback = (await other.signIn(diverted, 'grace')).slice(publicUrl.length);
    expect([(await person.get(callback)).status, person.cookies.has(sessionCookie)]).toEqual([401, false]);
    expect(failures.at(-1)).toMatchObject({ code: 'OAUTH_INVALID_RESPONSE' });
  });

  test('when the provider reports an error, and the page does not repeat the error', async () => {
    const { browser, begin } = await startBoth();
    const person = browser();
    const { searchParams, origin } = await begin(person);
    const own = new URLSearchParams({
      error: 'access_denied',
      error_description: '<b>call 555</b>',
      error_uri: 'https://evil.example',
      state: searchParams.get('state') ?? '',
      iss: origin,
    });
    const answer = await person.get(`/sign-in/callback?${own}`);
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('sign_in_denied')]);
    expect(answer.text).not.toMatch(/555|evil\.example/);
  });

  test.each([
    ['is missing', ''],
    ['is only a question mark', '?'],
    ['has no state', '?code=x'],
    ['repeats its parameters', '?code=x&code=y&state=a&state=b'],
    ['is not valid text', '?code=%00&state=%FF'],
    ['is long', `?code=${'x'.repeat(9_000)}`],
  ])('when its query %s', async (_what, query) => {
    const { browser, begin } = await startBoth();
    const person = browser();
    await begin(person);
    const { status } = await person.get(`/sign-in/callback${query}`);
    expect([status, person.cookies.has(sessionCookie)]).toEqual([401, false]);
  });
});

test('a callback leads to the overview, whatever it requests (open redirect)', async () => {
  const { browser, begin, callbackOf } = await startBoth();
  const person = browser();
  const address = await begin(person);
  const callback = await callbackOf(address, 'ada');
  const evil = 'https://evil.example/';
  const more = ['next', 'return_to', 'redirect_uri', 'url'].map((name) => `${name}=${encodeURIComponent(evil)}`);
  const answer = await person.get(`${callback}&${more.join('&')}`, { headers: { 'x-forwarded-host': 'evil.example' } });
  expect([answer.status, answer.location]).toEqual([200, null]);
  expect(answer.text).toContain('content="0; url=/"');
  expect(answer.text).not.toContain('evil.example');
});

test('a sign-in requires the token from its form', async () => {
  const { browser } = await startBoth();
  const person = browser();
  await person.get('/sign-in');
  expect((await person.post('/sign-in/provider', {}, { csrf: 'invented' })).status).toBe(403);
  expect(person.cookies.has(signInCookie)).toBe(false);
});

test('sign-ins that an attacker begins from many addresses do not fill the memory, and do not stop sign-ins with keys', async () => {
  const { browser, service, begin } = await startBoth();
  const { consoleSessions } = service.vault;
  const beganAt = service.clock.now();
  const content = { kind: 'sign_in', state: 's', nonce: 'n', codeVerifier: 'v', beganAt, replaces: null } as const;
  for (let n = 0; n < 10_000; n += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        consoleSessions.insert({ id: `unfinished-${n + i}`, subjects: [], expiresAt: beganAt + 600_000, content }),
      ),
    );
  }
  const person = browser();
  await person.get('/sign-in');
  const answer = await person.post('/sign-in/provider');
  expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('too_many_sign_ins')]);
  await person.get('/sign-in');
  await person.post('/sign-in', { name: 'Ada', private_key: service.key });
  expect((await person.get('/tokens')).status).toBe(200);
  service.clock.advance(600_001);
  await begin(browser());
});

test('failed callbacks are limited in the same way as wrong keys', async () => {
  const { browser, begin } = await startBoth({ limits: { ...noLimits, authFailures: 2, windowMs: 10_000 } });
  const statuses: number[] = [];
  for (let guess = 0; guess < 4; guess += 1) {
    const person = browser();
    await begin(person);
    statuses.push((await person.get('/sign-in/callback?code=guess&state=guess')).status);
  }
  expect(statuses).toEqual([401, 401, 429, 429]);
});

describe('a session based on groups', () => {
  test('is new after each sign-in, and the previous session is closed, although the callback arrives without its cookie', async () => {
    const { service, browser, begin, callbackOf } = await startBoth();
    const person = browser();
    await person.get('/sign-in');
    await person.post('/sign-in', { name: 'Ada', private_key: service.key });
    const before = person.copy();
    const address = await begin(person);
    // When another site redirects to the console, a browser does not send a `Strict` cookie.
    person.cookies.delete(sessionCookie);
    await person.get(await callbackOf(address, 'ada'));
    expect(person.cookies.get(sessionCookie)).not.toBe(before.cookies.get(sessionCookie));
    expect((await before.get('/')).location).toBe('/sign-in');
    expect((await person.get('/')).status).toBe(200);
  });

  test('is never one that an attacker planted', async () => {
    const { browser, signInAs } = await startBoth();
    const person = browser();
    const planted = 'A'.repeat(43);
    person.cookies.set(sessionCookie, planted);
    await signInAs('ada', person);
    expect(person.cookies.get(sessionCookie)).not.toBe(planted);
    const attacker = browser();
    attacker.cookies.set(sessionCookie, planted);
    expect((await attacker.get('/')).location).toBe('/sign-in');
  });

  test('loses rights as soon as its application does, and is closed when the application is deleted', async () => {
    const { service, ids, signInAs } = await startBoth();
    const { browser } = await signInAs('ada');
    expect((await browser.get('/tokens')).status).toBe(200);
    const management = { key: service.managementKey };
    const narrower = { name: 'all', permissions: ['token:read'] };
    const path = `/applications/${ids.private}`;
    expect((await service.call('PUT', path, narrower, management)).status).toBe(200);
    expect((await browser.get('/tokens')).status).toBe(403);
    expect((await service.call('DELETE', path, undefined, management)).status).toBe(204);
    expect((await browser.get('/tokens')).location).toBe('/sign-in');
  });

  test('continues when a key of its application is revoked, because the session uses no key', async () => {
    const { service, ids, signInAs } = await startBoth();
    const { browser } = await signInAs('ada');
    const management = { key: service.managementKey };
    const listed = await service.call('GET', `/applications/${ids.private}/keys`, undefined, management);
    const [issued] = JSON.parse(listed.text) as readonly { readonly id: string }[];
    const path = `/applications/${ids.private}/keys/${issued?.id}`;
    expect((await service.call('DELETE', path, undefined, management)).status).toBe(204);
    expect((await browser.get('/tokens')).status).toBe(200);
  });

  test('changes what the rules of its application allow, and the access log names the person and the application', async () => {
    const { service, provider, ids, signInAs } = await startBoth();
    const management = { key: service.managementKey };
    const tokenPermissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'] as const;
    const access = {
      name: 'support',
      rules: [rule('/support/', 'mask', tokenPermissions), rule('/billing/', 'mask', ['token:read', 'token:search'])],
    };
    // The person works with an application that no longer has a key. The loop below revokes all keys of the
    // application.
    const applicationPath = `/applications/${ids.private}`;
    const billed = { type: 'token', data: 'a secret', id: 'billed', containers: ['/billing/'] };
    expect((await service.call('POST', '/tokens', billed)).status).toBe(201);
    const keys = JSON.parse((await service.call('GET', `${applicationPath}/keys`, undefined, management)).text);
    for (const { id } of keys) {
      const revoked = await service.call('DELETE', `${applicationPath}/keys/${id}`, undefined, management);
      expect(revoked.status).toBe(204);
    }
    expect((await service.call('PUT', applicationPath, access, management)).status).toBe(200);

    const { browser } = await signInAs('ada');
    await browser.get('/new-token');
    const create = (id: string, container: string) =>
      browser.post('/new-token', { type: 'token', text: 'a secret', id, containers: container });
    expect((await create('ticket', '/support/')).location).toBe('/tokens/ticket');
    expect((await create('bill', '/billing/')).status).toBe(403);
    expect((await create('other', '/other/')).status).toBe(403);
    const page = await browser.get('/tokens/ticket');
    expect([page.status, page.text.includes('a secret')]).toEqual([200, false]);
    const revision = hidden(page.text, 'revision');
    expect((await browser.post('/tokens/ticket/reveal', { reason: 'ticket 81' })).status).toBe(403);
    expect((await browser.post('/tokens/billed/delete', { confirm: 'billed', revision: '0' })).status).toBe(403);
    expect((await browser.post('/tokens/ticket/delete', { confirm: 'ticket', revision })).status).toBe(303);

    const { body } = await service.call('GET', '/logs?size=100&entity_type=token', undefined, management);
    const entries = (body['data'] as readonly Record<string, unknown>[]).filter(({ person }) => person !== undefined);
    const outcomes = entries.map(({ operation, outcome }) => `${operation} ${outcome}`);
    expect(outcomes).toEqual(
      expect.arrayContaining(['create success', 'create denied', 'delete success', 'delete denied']),
    );
    for (const entry of entries) {
      expect(entry).toMatchObject({
        actor_type: 'application',
        actor_id: ids.private,
        person: 'Ada Lovelace',
        person_issuer: provider.issuer,
      });
      expect(entry).not.toHaveProperty('key_id');
    }
    const history = await service.call('GET', '/tokens/ticket/history', undefined, management);
    const events = history.body['data'] as readonly Record<string, unknown>[];
    expect(events.map(({ type, actor_id, person }) => [type, actor_id, person])).toEqual([
      ['token.deleted', ids.private, 'Ada Lovelace'],
      ['token.created', ids.private, 'Ada Lovelace'],
    ]);
  });

  test('changes the tenant’s directory with the rights of its management application, without a key', async () => {
    const { service, ids, signInAs } = await startBoth();
    const management = { key: service.managementKey };
    const { browser } = await signInAs('grace');
    const version = hidden((await browser.get('/tenant')).text, 'version');
    const saved = await browser.post('/tenant', { name: 'renamed in the console', version });
    expect([saved.status, saved.location]).toEqual([303, '/tenant']);
    const { body } = await service.call('GET', '/tenants/self', undefined, management);
    expect(body).toMatchObject({ name: 'renamed in the console', modified_by: ids.management });
  });

  test.each([
    ['does not exist', (ids: Ids, tenantId: string) => ({ tenantId, private: `${ids.private}0` })],
    ['is of the other kind', (ids: Ids, tenantId: string) => ({ tenantId, private: ids.management })],
    ['belongs to another tenant', (ids: Ids) => ({ tenantId: 'another', private: ids.private })],
  ])('is not created if the group’s application %s', async (_why, opens) => {
    const none = { group: 'support', management: null, isOperator: false };
    const { signInAs } = await startBoth({ rulesOf: (ids, tenantId) => [{ ...none, ...opens(ids, tenantId) }] });
    const { answer } = await signInAs('ada');
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('no_group')]);
  });

  test('is closed in all browsers by “sign out everywhere”, but only if it belongs to the same person', async () => {
    const { signInAs } = await startBoth();
    const [one, two, other] = [await signInAs('ada'), await signInAs('ada'), await signInAs('grace')];
    await one.browser.get('/session');
    expect((await one.browser.post('/sign-out-everywhere')).location).toBe('/sign-in');
    expect((await two.browser.get('/')).location).toBe('/sign-in');
    expect((await other.browser.get('/')).status).toBe(200);
  });

  test('cannot be used again after sign-out', async () => {
    const { signInAs } = await startBoth();
    const { browser } = await signInAs('ada');
    const stolen = browser.copy();
    await browser.get('/');
    expect((await browser.post('/sign-out')).location).toBe('/sign-in');
    expect((await stolen.get('/')).location).toBe('/sign-in');
  });
});

test('a sign-in right after the provider has replaced its signing key succeeds', async () => {
  const { provider, signInAs } = await startBoth();
  expect((await signInAs('ada')).answer.status).toBe(200);
  provider.rotateKeys();
  expect((await signInAs('ada')).answer.status).toBe(200);
});

test('an error page after a sign-in that could not be recorded carries no session', async () => {
  const { service, browser, begin, callbackOf } = await startBoth();
  const person = browser();
  const callback = await callbackOf(await begin(person), 'ada');
  const { recorder } = service.vault;
  vi.spyOn(recorder, 'soon').mockImplementation(() => {
    throw new StoreUnavailable('access log', 'full');
  });
  expect((await person.get(callback)).status).toBe(503);
  expect(person.cookies.has(sessionCookie)).toBe(false);
});

describe('a provider that does not respond', () => {
  test('leads to an error page, and the next sign-in tries the provider again', async () => {
    const { browser, provider, service, begin, failures, signInAs } = await startBoth();
    await provider.stop();
    const person = browser();
    await person.get('/sign-in');
    const stored = await service.vault.consoleSessions.count();
    const answer = await person.post('/sign-in/provider');
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('provider_unavailable')]);
    expect(await service.vault.consoleSessions.count()).toBe(stored);
    expect(failures).toEqual([expect.objectContaining({ name: 'IdentityProviderError', code: 'ECONNREFUSED' })]);
    expect((await person.get('/sign-in')).status).toBe(200);
    await person.post('/sign-in', { name: 'Ada', private_key: service.key });
    expect((await person.get('/tokens')).status).toBe(200);
    await provider.start();
    await begin(browser());
    expect((await signInAs('ada')).answer.status).toBe(200);
  });

  test('when the code is exchanged leads to the same page', async () => {
    const { browser, provider, begin, callbackOf } = await startBoth();
    const person = browser();
    const callback = await callbackOf(await begin(person), 'ada');
    await provider.stop();
    const answer = await person.get(callback);
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('provider_unavailable')]);
  });

  /** Starts a provider that accepts connections, but never responds. `hangUp` also ends its later connections. */
  async function startSilent() {
    const sockets: Socket[] = [];
    let hasHungUp = false;
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      if (hasHungUp) socket.destroy();
      else sockets.push(socket);
    });
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const hangUp = () => {
      hasHungUp = true;
      for (const socket of sockets) socket.destroy();
    };
    return { issuer: `http://127.0.0.1:${port}`, hangUp };
  }

  test('leads to the same page if it accepts the connection', async () => {
    const { issuer } = await startSilent();
    const { browser } = await startBoth({ issuer, timeoutSeconds: 1 });
    const person = browser();
    await person.get('/sign-in');
    const answer = await person.post('/sign-in/provider');
    expect([answer.status, answer.text]).toEqual([503, expect.stringContaining('provider_unavailable')]);
  });

  test('delays no other page while the console waits for it', async () => {
    const { issuer, hangUp } = await startSilent();
    const { browser, signIn } = await startBoth({ issuer, timeoutSeconds: 600 });
    const [person, other] = [browser(), await signIn()];
    await person.get('/sign-in');
    const order: string[] = [];
    const slow = person.post('/sign-in/provider').then((answer) => {
      order.push('sign-in');
      return answer;
    });
    expect((await other.get('/tokens')).status).toBe(200);
    order.push('tokens');
    hangUp();
    expect((await slow).status).toBe(503);
    expect(order).toEqual(['tokens', 'sign-in']);
  });

  test('leads to the same page if its response is too large for the memory', async () => {
    const large = createHttpServer((_request, response) => {
      const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, padding: 'x'.repeat(2 * 1024 * 1024) };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
    });
    await new Promise<void>((resolve) => void large.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void large.close());
    const issuer = `http://127.0.0.1:${(large.address() as { port: number }).port}`;
    const { browser, failures } = await startBoth({ issuer });
    const person = browser();
    await person.get('/sign-in');
    expect((await person.post('/sign-in/provider')).status).toBe(503);
    expect(failures).toEqual([expect.objectContaining({ code: 'RESPONSE_TOO_LARGE' })]);
  });

  test('leads to the same page if it reports an issuer other than the configured one', async () => {
    const provider = await startTestProvider(publicUrl, people);
    const { browser, failures } = await startBoth({ issuer: provider.issuer.replace('127.0.0.1', 'localhost') });
    const person = browser();
    await person.get('/sign-in');
    expect((await person.post('/sign-in/provider')).status).toBe(503);
    expect(failures).toHaveLength(1);
  });
});

test('no page, cookie or log line contains a token, code or secret from a sign-in', async () => {
  const { signInAs, browser, begin, callbackOf, provider, lines, failures } = await startBoth();
  const { browser: person, callback, answer } = await signInAs('ada');
  const failed = browser();
  const other = await callbackOf(await begin(failed), 'ada');
  const rejected = await failed.get(other.replace(/state=[^&]+/, 'state=other'));
  const pages = [answer, rejected, await person.get('/'), await person.get('/session')];
  const seen = JSON.stringify([pages, [...person.cookies], lines, failures.map((error) => [error, String(error)])]);
  const codes = [callback, other].map((one) => new URLSearchParams(one.split('?')[1]).get('code') ?? '');
  for (const secret of [...codes, provider.clientSecret]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(seen.includes(secret)).toBe(false);
  }
  expect(seen).not.toMatch(/eyJ[\w-]+\.eyJ/);
});
