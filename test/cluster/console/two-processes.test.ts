import { createHash, randomBytes } from 'node:crypto';
import type { Document } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { createConsole } from '#src/console/console-app.js';
import { issueOperatorCode } from '#src/console/sessions.js';
import { noLimits } from '#src/vault/limit-settings.js';
import { openClusterService } from '../../support/cluster-service.js';
import { createBrowser, toApp } from '../../support/console/browser.js';
import { http, startService } from '../../support/process.js';
import { vaultOnServers } from '../rebuild/support.js';
import { consoleEnv, consoleOf, signInAt } from './support.js';

const sessionCookie = '__Host-strongroom-session';
const failuresMax = 10;

/**
 * Starts two API processes that serve the console. `one` and `other` are the transports to their consoles. `keys` are
 * the fields of a sign-in with a private key and a management key.
 */
async function twoProcesses() {
  const vault = await vaultOnServers();
  const env = {
    ...vault.options.env,
    ...consoleEnv,
    STRONGROOM_RATE_LIMIT_AUTH_FAILURES: String(failuresMax),
    STRONGROOM_RATE_LIMIT_WINDOW_SECONDS: '600',
  };
  const start = () => startService(['--role', 'api'], { env });
  const [api, otherApi] = await Promise.all([start(), start()]);
  const body = { id: 'secret', type: 'token', data: 'plaintext-of-secret', mask: '{{ data | slice: 0 }}' };
  expect((await http('POST', `${api.address}/tokens`, { key: vault.key, body })).status).toBe(201);
  return {
    vault,
    api,
    otherApi,
    one: consoleOf(api),
    other: consoleOf(otherApi),
    keys: { private_key: vault.key, management_key: vault.managementKey },
    async newCode() {
      const service = await vault.open();
      onTestFinished(() => service.close());
      return issueOperatorCode(service.vault);
    },
  };
}

test('a session that ends at one process has ended at the other', async () => {
  const { one, other, keys, vault, api } = await twoProcesses();
  const [browser, second] = [await signInAt(one, keys), await signInAt(other, keys)];
  const [copy, secondCopy] = [browser.copy(other), second.copy(one)];
  expect((await copy.get('/tokens')).status).toBe(200);
  await browser.get('/session');
  expect((await browser.post('/sign-out')).location).toBe('/sign-in');
  expect((await copy.get('/tokens')).location).toBe('/sign-in');
  await second.get('/session');
  expect((await second.post('/sign-out-everywhere')).location).toBe('/sign-in');
  expect((await secondCopy.get('/tokens')).location).toBe('/sign-in');

  // A person with the key of one application.
  const management = { key: vault.managementKey };
  const made = await http('POST', `${api.address}/applications`, {
    ...management,
    body: { name: 'limited', type: 'private', permissions: ['token:search', 'token:read'] },
  });
  const limited = await signInAt(other, { private_key: String(made.body['key']) });
  const statuses = async (paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await limited.copy().get(path)).status));
  expect(await statuses(['/tokens', '/applications', '/logs', '/evidence', '/tenant', '/operations'])).toEqual([
    200, 403, 403, 403, 403, 403,
  ]);
  const removed = await http('DELETE', `${api.address}/applications/${made.body['id']}`, management);
  expect(removed.status).toBe(204);
  expect((await limited.get('/tokens')).location).toBe('/sign-in');
});

test('a code that many browsers send to both processes at the same time opens one session', async () => {
  const { one, other, newCode } = await twoProcesses();
  const browsers = Array.from({ length: 12 }, (_, index) => createBrowser(index % 2 === 0 ? one : other));
  for (const browser of browsers) await browser.get('/sign-in');
  const code = await newCode();
  const answers = await Promise.all(
    browsers.map((browser, index) =>
      browser.post('/sign-in', { name: 'Eve', operator_code: code }, { address: `127.0.0.${index + 2}` }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 11 }, () => 401)]);
});

/**
 * Opens the stores of one vault twice, as two processes would, and returns the transports to their consoles. Unlike
 * real processes, both wait until Redis has counted a use. A process that waits too long counts alone.
 */
async function twoConsoles() {
  const limits = { ...noLimits, authFailures: failuresMax, windowMs: 600_000 };
  const onError = (error: unknown) => console.error(error);
  const opened = await openClusterService({ rootKey: randomBytes(32), cvcRetentionMs: 3_600_000, limits, onError });
  onTestFinished(opened.remove);
  const services = [opened.service, await opened.another()];
  const unused = () => Promise.reject(new Error('no operation is used'));
  const consoles = services.map(async (service) => {
    const app = await createConsole(service, {
      allowedHosts: ['console.example'],
      trustedProxies: [],
      behindTlsProxy: false,
      tls: null,
      log: { request: () => undefined, error: onError },
      identity: null,
      operations: { run: unused, verify: unused, bundle: unused },
    });
    onTestFinished(async () => {
      await app.close();
      await service.close();
    });
    return toApp(app);
  });
  return Promise.all(consoles);
}

test('both processes count the wrong keys of an address together', async () => {
  const browsers = (await twoConsoles()).map((to) => createBrowser(to));
  for (const browser of browsers) await browser.get('/sign-in');
  const guesses = Array.from({ length: 2 * failuresMax }, (_, index) => ({ browser: browsers[index % 2], index }));
  const answers = await Promise.all(
    guesses.map(({ browser, index }) => browser?.post('/sign-in', { name: 'Eve', private_key: `sr_private_${index}` })),
  );
  expect(answers.filter((answer) => answer?.status === 401)).toHaveLength(failuresMax);
  expect(answers.filter((answer) => answer?.status === 429)).toHaveLength(failuresMax);
});

test('a form token is valid at both processes, but only in its own session', async () => {
  const { one, other, keys } = await twoProcesses();
  const [browser, stranger] = [await signInAt(one, keys), await signInAt(other, { ...keys, name: 'Eve' })];
  const { text } = await browser.get('/session');
  const csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
  expect((await stranger.post('/sign-out', {}, { csrf })).status).toBe(403);
  expect((await browser.copy(other).post('/sign-out', {}, { csrf })).location).toBe('/sign-in');
});

test('a bundle from one process is not available at the other', async () => {
  const { one, other, keys } = await twoProcesses();
  const browser = await signInAt(one, keys);
  await browser.get('/evidence');
  expect((await browser.post('/evidence/bundle', { ids: 'secret' })).status).toBe(303);
  await expect.poll(async () => (await browser.get('/evidence/bundle')).text).toContain('Ready');
  expect((await browser.get('/evidence/bundle.zip')).status).toBe(200);
  const copy = browser.copy(other);
  expect((await copy.get('/evidence/bundle')).text).toContain('No bundle');
  expect((await copy.get('/evidence/bundle.zip')).status).toBe(404);
  await browser.get('/session');
  await browser.post('/sign-out');
  expect((await browser.get('/evidence/bundle.zip')).location).toBe('/sign-in');
});

test('an attacker who can write to MongoDB cannot plant, edit or move a session, and a damaged one has ended', async () => {
  const { one, other, keys, vault, api, otherApi, newCode } = await twoProcesses();
  const [browser, operator] = [await signInAt(one, keys), await signInAt(one, { operator_code: await newCode() })];
  const sessions = vault.rows.collection<Document & { readonly _id: string }>('console_sessions');
  const idOf = (token: string) => createHash('sha256').update(`strongroom.console.${token}`).digest('hex');
  const _id = idOf(browser.cookies.get(sessionCookie) ?? '');
  const [own, ofOperator] = await Promise.all([
    sessions.findOne({ _id }),
    sessions.findOne({ _id: idOf(operator.cookies.get(sessionCookie) ?? '') }),
  ]);
  if (own === null || ofOperator === null) throw new Error('both sessions are stored');
  const { subjects: _subjects, ...withoutSubjects } = own;
  const changed: Readonly<Record<string, Document>> = {
    'the content of an operator': { ...ofOperator, _id },
    'the subject of an operator': { ...own, subjects: ['operator'] },
    'a later expiry': { ...own, expiresAt: own['expiresAt'] + 3_600_000 },
    'no subjects': withoutSubjects,
    'subjects that are null': { ...own, subjects: null },
    'a subject that is a document': { ...own, subjects: [{ key: 1 }] },
    'an expiry that is text': { ...own, expiresAt: String(own['expiresAt']) },
    'no content': { _id },
    'content that is null': { ...own, sealed: null },
    'content that is text': { ...own, sealed: 'x'.repeat(500) },
    'content that is a list': { ...own, sealed: Array.from({ length: 200 }, () => 1) },
    'content that is a document': { ...own, sealed: { length: 500 } },
    'empty content': { ...own, sealed: Buffer.alloc(0) },
  };
  for (const [what, document] of Object.entries(changed)) {
    const { _id: _, ...fields } = document;
    for (const [transport, path] of [
      [one, '/tokens'],
      [other, '/operations'],
    ] as const) {
      await sessions.replaceOne({ _id }, fields, { upsert: true });
      const { status, location } = await browser.copy(transport).get(path);
      expect({ what, status, location }).toEqual({ what, status: 303, location: '/sign-in' });
    }
  }
  const { _id: _, ...fields } = own;
  await sessions.replaceOne({ _id }, fields, { upsert: true });
  expect((await browser.get('/tokens')).status, 'the session as the vault wrote it').toBe(200);
  expect(api.stdout() + otherApi.stdout()).not.toContain('TypeError');
});

test('a rebuild that pauses because its process was killed is resumed at the console of another process', async () => {
  const { one, other, api, newCode } = await twoProcesses();
  const browser = await signInAt(one, { operator_code: await newCode() });
  const copy = browser.copy(other);
  await browser.get('/operations');
  expect((await browser.post('/operations/rebuild', { name: 'tokens' })).status).toBe(303);
  await api.stop('SIGKILL');
  expect((await copy.get('/operations')).text).toContain('Resume the rebuild');
  const resumed = await copy.search('/operations/rebuild', { name: 'tokens' });
  expect(resumed.text).toContain('The interrupted rebuild of tokens has resumed.');
  const again = await copy.search('/operations/rebuild', { name: 'tokens' });
  expect(again.text).toContain('A rebuild of tokens is already running.');
});

test('operators of the query language of MongoDB are text everywhere', async () => {
  const { one, keys } = await twoProcesses();
  const guest = createBrowser(one);
  await guest.get('/sign-in');
  const forms: readonly (readonly (readonly [string, string])[])[] = [
    [
      ['name', 'Eve'],
      ['private_key[$ne]', ''],
    ],
    [
      ['name', 'Eve'],
      ['operator_code[$gt]', ''],
    ],
    [
      ['name', 'Eve'],
      ['operator_code', '{"$gt":""}'],
    ],
    [
      ['name', 'Eve'],
      ['private_key', 'a'],
      ['private_key', 'b'],
    ],
    [
      ['name[$ne]', 'x'],
      ['__proto__', 'x'],
      ['management_key', '{"$ne":null}'],
    ],
  ];
  for (const form of forms) {
    const { status } = await guest.postAll(
      '/sign-in',
      new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])),
    );
    expect(status, JSON.stringify(form)).toBeOneOf([400, 401]);
  }
  for (const value of ['{"$ne":null}', 'j:{"$ne":null}', '%7B%22%24ne%22%3Anull%7D']) {
    guest.cookies.set(sessionCookie, value);
    expect((await guest.get('/tokens')).location, value).toBe('/sign-in');
  }
  const browser = await signInAt(one, keys);
  for (const path of ['/tokens/%7B%22$ne%22%3Anull%7D', '/applications/%7B%22$ne%22:null%7D', '/webhooks/%24ne']) {
    expect((await browser.get(path)).status, path).toBe(404);
  }
  await browser.get('/logs');
  const filtered = await browser.search('/logs', { entity_type: 'token', entity_id: '{"$ne":null}' });
  expect([filtered.status, filtered.text]).toEqual([200, expect.stringContaining('No entr')]);
  await browser.get('/tokens');
  const queries = ['{"$where":"sleep(1000)"}', 'id:{"$ne":null}', 'metadata.$where:1'];
  for (const query of queries) {
    expect((await browser.search('/tokens', { query })).text, query).not.toContain('href="/tokens/secret"');
  }
});
