import { describe, expect, test } from 'vitest';
import { erasureStatement, isSignedErasure } from '#src/audit/erasure-statement.js';
import { startTestConsole } from '../support/console/console.js';
import { hidden } from '../support/console/directory-pages.js';
import { rule } from '../support/test-service.js';

const number = '4242424242424242';
const card = { type: 'card', data: { number, expiration_month: 12, expiration_year: 2030, cvc: '123' } };
const hostile = '<script>alert(1)</script>{{ page.csrf }}\u{202E}\u{1F600}"\'&';

type Console = Awaited<ReturnType<typeof startTestConsole>>;

async function create({ service }: Console, body: Record<string, unknown>): Promise<void> {
  const { status, text } = await service.call('POST', '/tokens', body);
  if (status !== 201) throw new Error(text);
}

async function entriesOf({ service }: Console, operation: string) {
  const url = `/logs?operation=${operation}&entity_type=token`;
  const { body } = await service.call('GET', url, undefined, { key: service.managementKey });
  return body['data'] as readonly Record<string, unknown>[];
}

describe('a token’s page', () => {
  test('shows the mask and the other fields, and the table of tokens links to it', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'customer 1', ...card, metadata: { order: 'o-17' } });
    const browser = await console.signIn();
    expect((await browser.get('/tokens')).text).toContain('href="/tokens/customer%201"');
    const { status, text, headers } = await browser.get('/tokens/customer%201');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(text).toContain('XXXXXXXXXXXX4242');
    expect(text).not.toContain(number);
    expect(text).not.toContain('123</');
    for (const fact of ['o-17', '/pci/high/', '{{ data.number }}', 'Reason for viewing the value']) {
      expect(text).toContain(fact);
    }
  });

  test('explains that data finds only tokens with search indexes, if it finds none', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card, search_indexes: [] });
    const browser = await console.signIn();
    await browser.get('/tokens');
    expect((await browser.search('/tokens', { query: 'data:4242' })).text).toContain('Only tokens with search indexes');
    expect((await browser.search('/tokens', { query: 'id:data' })).text).not.toContain(
      'Only tokens with search indexes',
    );
    expect((await browser.get('/new-token')).text).toContain('href="/tokens" aria-current="page"');
  });

  test('the address of a search hides the query, and works only for the same session and page', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    await create(console, { id: 'two', ...card });
    const [browser, other] = [await console.signIn(), await console.signIn()];
    await browser.get('/tokens');
    const sent = await browser.post('/tokens', { query: 'id:one' });
    const address = sent.location ?? expect.fail('the response must be a redirect');
    expect([sent.status, address]).toEqual([303, expect.stringMatching(/^\/tokens\?form=[\w-]+$/)]);
    expect(Buffer.from(address.split('=')[1] ?? '', 'base64url').toString('latin1')).not.toContain('id:one');
    const isFound = (text: string) => [text.includes('href="/tokens/one"'), text.includes('href="/tokens/two"')];
    const explains = (text: string) => text.includes('This address belongs to another session, or is incomplete.');
    const again = await browser.get(address);
    expect(again.status).toBe(200);
    expect(isFound(again.text)).toEqual([true, false]);
    expect(again.text).toContain('value="id:one"');
    expect(explains(again.text)).toBe(false);
    expect(explains((await browser.get('/tokens')).text)).toBe(false);
    const changed = `${address.slice(0, -2)}${address.at(-2) === 'A' ? 'B' : 'A'}${address.slice(-1)}`;
    for (const [by, to] of [
      [other, address],
      [browser, changed],
      [browser, '/tokens?form=x'],
      [browser, '/tokens?form='],
      [browser, `${address}&form=x`],
    ] as const) {
      const { status, text } = await by.get(to);
      expect([status, isFound(text), text.includes('id:one'), explains(text)], to).toEqual([
        200,
        [true, true],
        false,
        true,
      ]);
    }
    const logs = await browser.get(address.replace('/tokens', '/logs'));
    expect([logs.status, logs.text.includes('id:one'), explains(logs.text)]).toEqual([200, false, true]);
  });

  test('an invalid query is shown with its error at the address of the search', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    await browser.get('/tokens');
    const { location } = await browser.post('/tokens', { query: 'datum:1' });
    const { status, text } = await browser.get(location ?? expect.fail('the response must be a redirect'));
    expect([status, text.includes('unknown field'), text.includes('value="datum:1"')]).toEqual([400, true, true]);
  });

  test('a query that is too long for an address is searched for without a redirect', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn();
    await browser.get('/tokens');
    // A valid query with 1,978 characters takes 5,924 bytes, and its address would exceed what proxies accept.
    const valid = await browser.post('/tokens', { query: `id:one OR id:"${'€'.repeat(1_963)}"` });
    expect([valid.status, valid.text.includes('href="/tokens/one"')]).toEqual([200, true]);
    for (const characters of [2_001, 3_000, 10_000, 100_000]) {
      const { status, text } = await browser.search('/tokens', { query: 'x'.repeat(characters) });
      expect([status, text.includes('The query cannot be read')], String(characters)).toEqual([400, true]);
      expect(text, String(characters)).not.toContain('href="/tokens/one"');
      expect(Buffer.byteLength(text)).toBeLessThan(60_000);
    }
    const ids = { entity_id: '€'.repeat(900), entity_ref: '€'.repeat(900) };
    const logs = await browser.post('/logs', ids);
    expect([logs.status, logs.text.includes('No access log entry matches the filter.')]).toEqual([200, true]);
  });

  test('a search is recorded once, when its result is shown and not when the form is sent', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    await browser.get('/tokens');
    const messages = async () => (await entriesOf(console, 'read')).map(({ message }) => message);
    const before = await messages();
    const { location } = await browser.post('/tokens', { query: 'data:4242' });
    expect(await messages()).toEqual(before);
    await browser.get(location ?? expect.fail('the response must be a redirect'));
    expect((await messages()).filter((message) => String(message).startsWith('search by value'))).toHaveLength(1);
  });

  test('the redirect of a search needs the form token', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    await browser.get('/tokens');
    for (const path of ['/tokens', '/logs']) {
      expect((await browser.post(path, { query: 'id:one' }, { csrf: null })).status, path).toBe(403);
    }
  });

  test('returns 404 for an unknown token, and 403 without a rule for the token’s container', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn();
    expect((await browser.get('/tokens/none')).status).toBe(404);
    const privateKey = await console.service.application([rule('/open/', 'reveal', ['token:read'])]);
    const other = await console.signIn({ privateKey });
    expect((await other.get('/tokens/one')).status).toBe(403);
    expect(
      (
        await (
          await console.signIn({ isOperator: true, privateKey: '', managementKey: console.service.managementKey })
        ).get('/tokens/one')
      ).status,
    ).toBe(403);
  });

  test('shows hostile values as text, and shortens 512 KiB to less than 60 KB with a link to a file with the whole value', async () => {
    const console = await startTestConsole();
    await create(console, {
      id: 'mad',
      type: 'token',
      data: { a: [hostile] },
      mask: { a: hostile.replace('{{ page.csrf }}', '') },
      metadata: { [hostile.slice(0, 40)]: hostile },
    });
    await create(console, { id: 'big', type: 'token', data: '<b>\n'.repeat(100_000), mask: '{{ data }}' });
    const browser = await console.signIn();
    const { text } = await browser.get('/tokens/mad');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(text).toContain('⟨U+202E⟩');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('{{ page.csrf }}');
    const big = await browser.get('/tokens/big');
    expect(Buffer.byteLength(big.text)).toBeLessThan(60_000);
    expect(big.text).toContain('This page shows only the beginning.');
    const file = await browser.get('/tokens/big/file');
    expect(file.headers['content-disposition']).toBe('attachment; filename="token-masked.json"');
    expect(JSON.parse(file.text).data).toHaveLength(400_000);
  });
});

describe('a reveal', () => {
  test('requires a reason, is recorded with the reason, and disappears from the browser after 30 seconds', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn({ name: 'Ada Lovelace' });
    await browser.get('/tokens/one');
    for (const reason of ['', '   ', '\u200B\u2060', 'x'.repeat(501), `card ${number}`]) {
      const refused = await browser.post('/tokens/one/reveal', { reason });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('aria-invalid="true"');
      expect(refused.text).not.toContain('Plaintext</span>');
    }
    expect(await entriesOf(console, 'reveal')).toEqual([]);
    const { status, text, headers } = await browser.post('/tokens/one/reveal', { reason: 'The customer\r\ncalled' });
    expect(status).toBe(200);
    expect(text).toContain(number);
    expect(text).toContain('123</bdi>');
    expect(headers['refresh']).toBe('30; url=/tokens/one');
    expect(headers['cache-control']).toBe('no-store');
    expect(await entriesOf(console, 'reveal')).toMatchObject([
      { person: 'Ada Lovelace', reason: 'The customer called', entity_id: 'one' },
    ]);
    expect(console.lines.map((line) => JSON.stringify(line)).join('')).not.toContain('The customer');
  });

  test('in a file is recorded in the same way', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn();
    await browser.get('/tokens/one');
    const { text, headers } = await browser.post('/tokens/one/reveal', { reason: 'audit', as: 'file' });
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['content-disposition']).toBe('attachment; filename="token-plaintext.json"');
    expect(JSON.parse(text).data.number).toBe(number);
    expect(await entriesOf(console, 'reveal')).toMatchObject([{ reason: 'audit' }]);
  });

  test('returns 403 for an application that sees only masked data, and works with token:use', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const masked = await console.signIn({ privateKey: await console.service.application(['token:read']) });
    expect((await masked.get('/tokens/one')).text).toContain('may not see this value in plaintext');
    const refused = await masked.post('/tokens/one/reveal', { reason: 'curious' });
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain(number);
    const using = await console.signIn({
      privateKey: await console.service.application(['token:read', 'token:use']),
    });
    await using.get('/tokens/one');
    expect((await using.post('/tokens/one/reveal', { reason: 'support' })).text).toContain(number);
  });
});

describe('the forms to purge, edit and delete a token', () => {
  test('purge a card’s verification code and nothing else', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    await create(console, { id: 'two', type: 'token', data: 'x' });
    const browser = await console.signIn();
    expect((await browser.get('/tokens/one')).text).toContain('Purge the code');
    const unsure = await browser.post('/tokens/one/purge-cvc');
    expect([unsure.status, unsure.text]).toEqual([400, expect.stringContaining('Check this box to confirm.')]);
    expect((await console.service.call('GET', '/tokens/one')).body['data']).toHaveProperty('cvc');
    expect((await browser.post('/tokens/one/purge-cvc', { sure: 'on' })).location).toBe('/tokens/one');
    const purged = (await browser.get('/tokens/one')).text;
    expect(purged).toContain('The verification code is purged.');
    expect(purged).not.toContain('Purge the code');
    expect((await browser.get('/tokens/one/history')).text).toContain('Code purged');
    expect((await console.service.call('GET', '/tokens/one')).body['data']).not.toHaveProperty('cvc');
    expect((await browser.post('/tokens/two/purge-cvc', { sure: 'on' })).status).toBe(400);
    expect((await browser.post('/tokens/none/purge-cvc', { sure: 'on' })).status).toBe(404);
    const reader = await console.signIn({ privateKey: await console.service.application(['token:read']) });
    await reader.get('/tokens/one');
    expect((await reader.post('/tokens/one/purge-cvc', { sure: 'on' })).status).toBe(403);
  });

  test('save only the fields that were edited, and show a conflict together with the input', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await create(console, { id: 'one', ...card, metadata: { order: 'o-17', note: 'a\nb' } });
    const browser = await console.signIn();
    const form = (await browser.get('/tokens/one/edit')).text;
    const revision = /name="revision" value="(\d+)"/.exec(form)?.[1] ?? '';
    expect(form).toContain('/pci/high/');
    const typed: [string, string][] = [
      ['revision', revision],
      ['containers', '/pci/high/\r\n/pci/low/'],
      ['expires_at', '2035-01-31'],
      ['metadata_key', 'order'],
      ['metadata_value', 'o-18'],
      ['metadata_key', 'note'],
      ['metadata_value', 'a\r\nb'],
    ];
    const fields = new URLSearchParams(typed);
    expect((await browser.postAll('/tokens/one/edit', fields)).location).toBe('/tokens/one');
    const { body } = await service.call('GET', '/tokens/one');
    expect(body).toMatchObject({
      containers: ['/pci/high/', '/pci/low/'],
      metadata: { order: 'o-18', note: 'a\nb' },
      expires_at: '2035-01-31T00:00:00.000+00:00',
    });
    await browser.get('/tokens/one/edit');
    const conflict = await browser.postAll('/tokens/one/edit', fields);
    expect(conflict.status).toBe(412);
    expect(conflict.text).toContain('Someone changed the token');
    expect(conflict.text).toContain('2035-01-31');
  });

  test('save one of two edits that are sent at the same moment, and show a conflict for the other', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn();
    const revision = hidden((await browser.get('/tokens/one/edit')).text, 'revision');
    const edit = (value: string) =>
      browser.post('/tokens/one/edit', {
        revision,
        containers: '/pci/high/',
        metadata_key: 'order',
        metadata_value: value,
      });
    const answers = await Promise.all([edit('o-17'), edit('o-18')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 412]);
    const order = answers[0].status === 303 ? 'o-17' : 'o-18';
    expect((await console.service.call('GET', '/tokens/one')).body).toMatchObject({ metadata: { order } });
  });

  test.each([
    ['containers', 'pci', 'must be a path'],
    ['expires_at', 'soon', 'must be a date'],
  ])('show the error for %s next to the field', async (field, value, message) => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn();
    const [, revision = ''] = /name="revision" value="(\d+)"/.exec((await browser.get('/tokens/one/edit')).text) ?? [];
    const containers = '/pci/high/';
    const { status, text } = await browser.post('/tokens/one/edit', { revision, containers, [field]: value });
    expect(status).toBe(400);
    expect(text.toLowerCase()).toContain(message);
    const rows = (shown: string) => shown.match(/name="metadata_key"/g)?.length;
    const fields = new URLSearchParams({ revision, containers, [field]: value });
    for (let i = 0; i < 5; i += 1) {
      fields.append('metadata_key', '');
      fields.append('metadata_value', '');
    }
    const again = await browser.postAll('/tokens/one/edit', fields);
    expect([again.status, rows(again.text)]).toEqual([400, rows(text)]);
    expect((await browser.post('/tokens/one/edit', { revision: 'x' })).status).toBe(400);
    expect((await browser.get('/tokens/none/edit')).status).toBe(404);
    const reader = await console.signIn({ privateKey: await console.service.application(['token:read']) });
    expect((await reader.get('/tokens/one/edit')).status).toBe(403);
  });

  test('a statement of erasure, and the page that says why there is none, each count as one read of the history', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await create(console, { id: 'one', ...card });
    const { privateKey, managementKey } = { privateKey: service.key, managementKey: service.managementKey };
    const browser = await console.signIn({ privateKey, managementKey, isOperator: true });
    await browser.get('/tokens');
    const reads = async () => {
      const path = '/logs?operation=read&entity_type=token&size=100';
      const { body } = await service.call('GET', path, undefined, { key: managementKey });
      const entries = body['data'] as { readonly message: string }[];
      return entries.filter(({ message }) => message === 'history of a token read').length;
    };
    expect((await browser.post('/tokens/one/erasure')).status).toBe(409);
    expect(await reads()).toBe(1);
    await service.call('DELETE', '/tokens/one');
    expect((await browser.post('/tokens/one/erasure')).status).toBe(200);
    expect(await reads()).toBe(2);
  });

  test('delete only with the typed id and the displayed revision, and then return the signed statement', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await create(console, { id: 'one', ...card });
    const { privateKey, managementKey } = { privateKey: service.key, managementKey: service.managementKey };
    const browser = await console.signIn({ privateKey, managementKey, isOperator: true });
    const [, revision = ''] = /name="revision" value="(\d+)"/.exec((await browser.get('/tokens/one')).text) ?? [];
    expect((await browser.post('/tokens/one/delete', { confirm: 'two', revision })).status).toBe(400);
    expect((await browser.post('/tokens/one/delete', { confirm: 'one', revision: '99' })).status).toBe(412);
    expect((await service.call('GET', '/tokens/one')).status).toBe(200);
    const living = await browser.post('/tokens/one/erasure');
    expect(living.status).toBe(409);
    expect(living.text).toContain('the token still exists');
    const gone = await browser.post('/tokens/one/delete', { confirm: 'one', revision });
    expect(gone.location).toBe('/tokens/one/erasure');
    expect((await browser.get('/tokens/one/erasure')).text).toContain('its keys are destroyed');
    const file = await browser.post('/tokens/one/erasure');
    expect(file.headers['content-disposition']).toBe('attachment; filename="erasure-statement.json"');
    const statement = erasureStatement.parse(JSON.parse(file.text));
    expect(statement.token_id).toBe('one');
    expect(isSignedErasure(statement, (await service.vault.keys.signingKey()).publicKey)).toBe(true);
    const missing = await browser.get('/tokens/one');
    expect(missing.status).toBe(404);
    expect(missing.text).toContain('href="/tokens/one/history"');
    expect(missing.text).toContain('href="/tokens/one/erasure"');
    const rules = [rule('/pci/', 'mask', ['token:read'])];
    const narrow = await (await console.signIn({ privateKey: await service.application(rules) })).get('/tokens/one');
    expect(narrow.status).toBe(404);
    expect(narrow.text).not.toContain('/erasure');
  });

  test('accept an id with invisible characters in the form in which the page shows it', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'a\u{200B}b', type: 'token', data: 'x' });
    const browser = await console.signIn();
    const path = `/tokens/${encodeURIComponent('a\u{200B}b')}`;
    const { text } = await browser.get(path);
    expect(text).toContain('a⟨U+200B⟩b');
    const [, revision = ''] = /name="revision" value="(\d+)"/.exec(text) ?? [];
    expect((await browser.post(`${path}/delete`, { confirm: 'ab', revision })).status).toBe(400);
    expect((await browser.post(`${path}/delete`, { confirm: 'a⟨U+200B⟩b', revision })).status).toBe(303);
  });

  test('change nothing if an edit would result in another token’s fingerprint, and say so', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await service.call(
      'PUT',
      '/tenants/self',
      { name: 'test', settings: { deduplicate_tokens: 'true' } },
      { key: service.managementKey },
    );
    const token = { type: 'token', data: 'x', fingerprint_expression: '{{ metadata.order }}' };
    await create(console, { ...token, id: 'one', metadata: { order: '1' } });
    await create(console, { ...token, id: 'two', metadata: { order: '2' } });
    const browser = await console.signIn();
    const [, revision = ''] = /name="revision" value="(\d+)"/.exec((await browser.get('/tokens/two/edit')).text) ?? [];
    const fields = { revision, containers: '/general/high/', metadata_key: 'order', metadata_value: '1' };
    const { status, text } = await browser.post('/tokens/two/edit', fields);
    expect(status).toBe(409);
    expect(text).toContain('Nothing was saved.');
    expect((await service.call('GET', '/tokens/two')).body['metadata']).toEqual({ order: '2' });
  });

  test('return the statement only to an operator who may read the history, because it counts the entries of all tenants', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    await console.service.call('DELETE', '/tokens/one');
    const browser = await console.signIn();
    expect((await browser.get('/tokens/one/erasure')).text).toContain('strongroom audit erasure');
    expect((await browser.post('/tokens/one/erasure')).status).toBe(403);
    const narrow = await console.service.application([rule('/open/', 'reveal', ['token:read'])]);
    const stranger = await console.signIn({ privateKey: narrow, isOperator: true });
    expect((await stranger.get('/tokens/one/erasure')).status).toBe(404);
    expect((await stranger.post('/tokens/one/erasure')).status).toBe(404);
    const foreign = await console.signIn({ privateKey: await console.service.otherTenant(), isOperator: true });
    expect((await foreign.get('/tokens/one/erasure')).status).toBe(404);
  });

  test('require token:delete for a deletion, and return to the list if the application may read nothing else', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const reader = await console.signIn({ privateKey: await console.service.application(['token:read']) });
    const { text } = await reader.get('/tokens/one');
    expect(text).not.toContain('Delete permanently');
    expect((await reader.post('/tokens/one/delete', { confirm: 'one', revision: '0' })).status).toBe(403);
    const rules = [rule('/pci/', 'mask', ['token:read', 'token:search', 'token:delete'])];
    const narrow = await console.signIn({ privateKey: await console.service.application(rules) });
    const [, revision = ''] = /name="revision" value="(\d+)"/.exec((await narrow.get('/tokens/one')).text) ?? [];
    expect((await narrow.post('/tokens/one/delete', { confirm: 'one', revision })).location).toBe('/tokens');
  });
});

describe('a token’s past', () => {
  test('shows the history with the person, and the masked state at each event', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await create(console, { id: 'one', ...card, metadata: { order: 'first' } });
    service.clock.advance(60_000);
    await service.call(
      'PATCH',
      '/tokens/one',
      { metadata: { order: 'second' } },
      { headers: { 'service-person': 'Grace' } },
    );
    service.clock.advance(60_000);
    const browser = await console.signIn();
    const { status, text } = await browser.get('/tokens/one/history');
    expect(status).toBe(200);
    expect(text).toContain('Grace');
    expect(text).toContain('metadata');
    const links = [...text.matchAll(/href="(\/tokens\/one\/as-of\?at=[^"]+)"/g)].map(([, link = '']) => link);
    expect(links).toHaveLength(2);
    const [newest = '', oldest = ''] = links;
    expect((await browser.get(newest)).text).toContain('second');
    const earlier = (await browser.get(oldest)).text;
    expect(earlier).toContain('first');
    expect(earlier).toContain('XXXXXXXXXXXX4242');
    expect(earlier).not.toContain(number);
    expect((await browser.get('/tokens/one/as-of?at=2001-01-01T00:00')).text).toContain('This token did not exist');
    await service.call('DELETE', '/tokens/one');
    expect((await browser.get(oldest)).text).toContain('Erased since');
    expect((await browser.get('/tokens/one/history')).text).toContain('Deleted');
  });

  test('does not undo a tightened mask for an application that sees only masked data', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await create(console, { id: 'one', ...card, mask: '{{ data.number }}', metadata: { email: 'ada@example.com' } });
    service.clock.advance(60_000);
    const at = new Date(service.clock.now()).toISOString();
    const browser = await console.signIn({
      privateKey: await service.application([rule('/', 'mask', ['token:read'])]),
    });
    expect((await browser.get(`/tokens/one/as-of?at=${at}`)).text).toContain(number);
    service.clock.advance(60_000);
    await service.call('PATCH', '/tokens/one', { mask: '{{ data.number | reveal_last: 4 }}', metadata: null });
    const { status, text } = await browser.get(`/tokens/one/as-of?at=${at}`);
    expect(status).toBe(403);
    expect(text).toContain('This token has changed since');
    expect(text).not.toContain(number);
    expect(text).not.toContain('ada@example.com');
  });

  test('is recorded, even if only the type and the creation of a deleted token are left', async () => {
    const console = await startTestConsole();
    const { service } = console;
    await create(console, { id: 'one', ...card });
    const at = new Date(service.clock.now()).toISOString();
    service.clock.advance(1_000);
    await service.call('DELETE', '/tokens/one');
    const browser = await console.signIn({ name: 'Grace Hopper', privateKey: service.key });
    expect((await browser.get(`/tokens/one/as-of?at=${at}`)).text).toContain('Erased since');
    const path = '/logs?entity_id=one&operation=read';
    const { body } = await service.call('GET', path, undefined, { key: service.managementKey });
    expect(body['data']).toEqual([expect.objectContaining({ person: 'Grace Hopper', outcome: 'success' })]);
  });

  test.each(['12', 'yesterday', '2999-01-01T00:00', ' 1 '])('returns 400 for the time %j', async (at) => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const browser = await console.signIn();
    const { status, text } = await browser.get(`/tokens/one/as-of?at=${encodeURIComponent(at)}`);
    expect(status).toBe(400);
    expect(text).toContain('aria-invalid="true"');
    expect(text).not.toContain('position');
  });

  test('is not shown for a token in another container or tenant', async () => {
    const console = await startTestConsole();
    await create(console, { id: 'one', ...card });
    const at = '2001-01-01T00:00';
    const narrow = await console.signIn({
      privateKey: await console.service.application([rule('/open/', 'reveal', ['token:read'])]),
    });
    expect((await narrow.get('/tokens/one/history')).status).toBe(403);
    console.service.clock.advance(1_000);
    const now = new Date(console.service.clock.now()).toISOString();
    // A moment before the creation gives the same answer. Otherwise, the person could find out when it was created.
    for (const moment of [now, at]) expect((await narrow.get(`/tokens/one/as-of?at=${moment}`)).status).toBe(403);
    const foreign = await console.signIn({ privateKey: await console.service.otherTenant() });
    expect((await foreign.get('/tokens/one/history')).status).toBe(404);
    expect((await foreign.get(`/tokens/one/as-of?at=${at}`)).text).toContain('This token did not exist');
    expect((await console.browser().get('/tokens/one/history')).location).toBe('/sign-in');
    expect((await foreign.get('/tokens/one/history?page=x')).status).toBe(400);
  });
});
