import { describe, expect, test } from 'vitest';
import { startTestConsole } from '../support/console/console.js';
import { rule } from '../support/test-service.js';

const number = '4242424242424242';

describe('the form for a new token', () => {
  test.each([
    ['token', { text: 'secret\r\ntext' }, 'secret\ntext'],
    ['token', { text: '{"a": [1]}', format: 'json' }, { a: [1] }],
    [
      'card',
      { number: '4242 4242 4242 4242', expiration_month: '12', expiration_year: '2030' },
      { number, expiration_month: 12, expiration_year: 2030 },
    ],
    [
      'bank',
      { routing_number: '021000021', account_number: '123' },
      { routing_number: '021000021', account_number: '123' },
    ],
    ['card_number', { value: number }, number],
    ['us_bank_account_number', { value: '12345' }, '12345'],
    ['us_bank_routing_number', { value: '021000021' }, '021000021'],
    ['social_security_number', { value: '123-45-6789' }, '123-45-6789'],
    ['employer_id_number', { value: '12-3456789' }, '12-3456789'],
  ])('stores a %s', async (type, fields, data) => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    const { text } = await browser.get(`/new-token?type=${type}`);
    for (const name of Object.keys(fields)) expect(text).toContain(`name="${name}"`);
    const { status, location } = await browser.post('/new-token', { type, ...fields });
    expect(status).toBe(303);
    expect((await console.service.call('GET', location ?? '')).body).toMatchObject({ type, data });
  });

  test('stores all fields of the form, and creates only one token if the form is sent twice', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    const [, request = ''] = /name="request" value="([^"]+)"/.exec((await browser.get('/new-token')).text) ?? [];
    const fields = new URLSearchParams({
      type: 'token',
      text: 'Ada',
      id: 'customer-1',
      containers: '/a/\r\n/b/',
      expires_at: '2035-01-31',
      request,
      mask: '{{ data | slice: 0 }}',
      search_indexes: '{{ data }}',
      fingerprint_expression: '{{ data }}',
    });
    fields.append('metadata_key', 'order');
    fields.append('metadata_value', 'o-17');
    fields.append('metadata_key', '');
    fields.append('metadata_value', '');
    expect((await browser.postAll('/new-token', fields)).location).toBe('/tokens/customer-1');
    expect((await console.service.call('GET', '/tokens/customer-1')).body).toMatchObject({
      data: 'Ada',
      containers: ['/a/', '/b/'],
      metadata: { order: 'o-17' },
      mask: '{{ data | slice: 0 }}',
      search_indexes: ['{{ data }}'],
      fingerprint_expression: '{{ data }}',
      expires_at: '2035-01-31T00:00:00.000+00:00',
    });
    expect((await browser.postAll('/new-token', fields)).location).toBe('/tokens/customer-1');
    // The second request finds the token of the first, but shows no plaintext.
    const key = console.service.managementKey;
    const { body } = await console.service.call('GET', '/logs?size=100', undefined, { key });
    const entries = body['data'] as readonly Record<string, unknown>[];
    const done = entries.filter(({ person }) => person !== undefined).map(({ operation }) => operation);
    expect(new Set(done)).toEqual(new Set(['sign_in', 'create', 'read']));
    fields.set('text', 'Grace');
    const taken = await browser.postAll('/new-token', fields);
    expect(taken.status).toBe(409);
    expect(taken.text).toContain('Another token has this id.');
    expect(taken.text).toContain('Some fields are not valid. Nothing was saved.');
  });

  test('reports that an equal token was already stored', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    await browser.get('/new-token');
    await browser.post('/new-token', { type: 'card_number', value: number, id: 'first' });
    const again = await browser.post('/new-token', { type: 'card_number', value: number, deduplicate_token: 'true' });
    expect(again.location).toBe('/tokens/first');
    expect((await browser.get('/tokens/first')).text).toContain('An equal token already existed');
  });

  test.each([
    ['card', { number: '4242424242424241' }, 'number', 'check digit is wrong'],
    ['card', { number, expiration_month: '13' }, 'expiration_month', 'from 1 to 12'],
    ['social_security_number', { value: '12' }, 'value', '9 digits'],
    ['token', { text: '{"a":', format: 'json' }, 'text', ''],
    ['token', { text: '' }, 'text', 'This is required.'],
    ['token', { text: 'x', containers: '/a/\n\nb' }, 'containers', 'Line 3: must be a path'],
    ['token', { text: 'x', mask: '{"a":' }, 'mask', ''],
    ['token', { text: 'x', mask: '{{ data | nothing }}' }, 'mask', ''],
    ['token', { text: 'x', search_indexes: '{{ data.a }}' }, 'search_indexes', 'Line 1: evaluates to nothing'],
    ['token', { text: 'x', fingerprint_expression: '{{' }, 'fingerprint_expression', ''],
    ['token', { text: 'x', expires_at: '2001-01-01' }, 'expires_at', 'future'],
    ['token', { text: 'x', id: 'a/b' }, 'id', 'must not contain'],
    ['token', { text: 'x', metadata_value: 'y' }, 'metadata', 'has no key'],
    ['card', { number, metadata_key: 'k', metadata_value: number }, 'metadata', ''],
    ['card', { number, id: number }, 'id', ''],
  ])(
    'shows the error in a %s with %j next to the field, as the check while typing does',
    async (type, given, field, message) => {
      const console = await startTestConsole();
      const browser = await console.signIn();
      await browser.get('/new-token');
      const fields = Object.fromEntries(
        Object.entries({ type, metadata_key: '', ...given }).map(([name, value]) => [name, String(value)]),
      );
      const checked = await browser.post('/new-token/check', fields);
      expect(checked.status).toBe(200);
      const { errors } = JSON.parse(checked.text) as { errors: Record<string, string> };
      expect(Object.keys(errors)).toEqual([field]);
      expect(errors[field]?.toLowerCase()).toContain(message.toLowerCase());
      const { status, text } = await browser.post('/new-token', fields);
      expect(status).toBe(400);
      const [, tag = ''] = new RegExp(`<p [^>]*data-errors-of="${field}"([^>]*)>`).exec(text) ?? [];
      expect(tag).not.toContain('hidden');
      expect(text).toContain('Some fields are not valid. Nothing was saved.');
      expect((await console.service.call('GET', '/tokens')).body['data']).toEqual([]);
    },
  );

  test('checks the input without storing anything or finding a token, and the input is not logged', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    await browser.get('/new-token');
    await console.service.call('POST', '/tokens', { type: 'card_number', data: number, id: 'first' });
    const fields = { type: 'card_number', value: number, id: 'first', deduplicate_token: 'true' };
    expect((await browser.post('/new-token/check', fields)).text).toBe('{"errors":{}}');
    expect(JSON.stringify(console.lines)).not.toContain(number);
  });

  test('requires token:create in the containers, and shows only the id to an application that may not read the token', async () => {
    const console = await startTestConsole();
    const reader = await console.signIn({
      privateKey: await console.service.application(['token:read', 'token:search']),
    });
    expect((await reader.get('/tokens')).text).not.toContain('/new-token');
    expect((await reader.get('/new-token')).status).toBe(403);
    expect((await reader.post('/new-token/check')).status).toBe(403);
    const writer = await console.signIn({
      privateKey: await console.service.application([rule('/a/', 'redact', ['token:create'])]),
    });
    await writer.get('/new-token');
    const refused = await writer.post('/new-token', { type: 'token', text: 'x', containers: '/b/' });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('may not create tokens in these containers');
    const stored = await writer.post('/new-token', { type: 'token', text: 'x', containers: '/a/', id: 'mine' });
    expect(stored.status).toBe(200);
    expect(stored.text).toContain('mine');
    expect((await writer.get('/new-token?type=passport')).status).toBe(400);
    expect((await writer.post('/new-token', { type: 'passport' })).status).toBe(400);
    expect((await writer.post('/new-token', { type: 'token', text: 'x' }, { csrf: null })).status).toBe(403);
  });

  test('shows hostile input as text when the form is shown again', async () => {
    const console = await startTestConsole();
    const browser = await console.signIn();
    await browser.get('/new-token');
    const text = '</textarea><script>alert(1)</script>';
    const answer = await browser.post('/new-token', { type: 'token', text, id: '"><b>{{ page.csrf }}' });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('<script>alert');
    expect(answer.text).not.toContain('"><b>');
    expect(answer.headers['cache-control']).toBe('no-store');
  });
});
