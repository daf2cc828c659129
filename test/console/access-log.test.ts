import { describe, expect, test } from 'vitest';
import { startTestConsole } from '../support/console/console.js';

const card = { type: 'card', data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 } };

describe('the access log', () => {
  test('names the person who viewed it, and shows no token data', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: 'customer-1', ...card });
    const browser = await signIn({ name: 'Ada Lovelace' });
    await browser.get('/tokens');
    const { status, text } = await browser.get('/logs');
    expect(status).toBe(200);
    expect(text).toContain('Ada Lovelace');
    expect(text).toContain('customer-1');
    expect(text).not.toContain('4242424242424242');
  });

  test('is filtered by operation, kind, id and time, and the form keeps the filters', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: 'first', ...card });
    await service.call('POST', '/tokens', { id: 'second', type: 'token', data: 'x' });
    const browser = await signIn();
    await browser.get('/logs');
    const found = await browser.search('/logs', { operation: 'create', entity_type: 'token', entity_id: 'first' });
    expect(found.status).toBe(200);
    expect(found.text).toContain('1–1 of 1');
    expect(found.text).toContain('value="first"');
    const none = await browser.search('/logs', { entity_id: 'first', to: '2001-01-01' });
    expect(none.text).toContain('No access log entry matches the filter.');
  });

  test.each(['2026-11-26 10:49:21 UTC', '2026-11-26 10:49:21', '2026-11-26 10:49', '2026-11-26 10:49 UTC'])(
    'is filtered by a time as the page shows it: %s',
    async (time) => {
      const { signIn } = await startTestConsole();
      const browser = await signIn();
      await browser.get('/logs');
      expect((await browser.search('/logs', { from: '2000-01-01', to: time })).status).toBe(200);
      const later = time.replace('10:49', '10:48');
      const answer = await browser.search('/logs', { from: time, to: later });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Must be after the start')]);
      for (const wrong of [`${time}x`, time.replace('-26', '-31'), time.replace(' ', '  ')]) {
        expect((await browser.search('/logs', { from: wrong })).status, wrong).toBe(400);
      }
    },
  );

  test('is filtered by a reference, which remains when the token is gone', async () => {
    const { service, signIn } = await startTestConsole();
    const { body } = await service.call('POST', '/tokens', { id: 'first', ...card });
    await service.call('POST', '/tokens', { id: 'second', type: 'token', data: 'x' });
    await service.call('DELETE', '/tokens/first');
    const browser = await signIn();
    await browser.get('/logs');
    const found = await browser.search('/logs', { entity_ref: ` ${String(body['entity_ref'])} ` });
    expect(found.text).toContain('1–2 of 2');
    expect(found.text).not.toContain('second');
    expect((await browser.search('/logs', { entity_ref: 'x'.repeat(1_001) })).status).toBe(400);
  });

  test('links the tokens and applications that the session may open, and no others', async () => {
    const { service, signIn } = await startTestConsole();
    const { body } = await service.call('POST', '/tokens', { id: 'first', ...card });
    const application = `href="/applications/${String(body['created_by'])}"`;
    const both = await (await signIn()).get('/logs');
    expect(both.text).toContain('href="/tokens/first"');
    expect(both.text).toContain(application);
    const auditor = await signIn({ managementKey: await service.application(['log:read'], 'management') });
    const { status, text } = await auditor.get('/logs');
    expect(status).toBe(200);
    expect(text).toContain('first');
    expect(text).not.toContain('href="/tokens/first"');
    expect(text).not.toContain(application);
  });

  test('shows the names of applications only to a session that may read applications, and records that it did', async () => {
    const { service, signIn } = await startTestConsole();
    const { body } = await service.call('GET', '/applications/key');
    const name = String(body['name']);
    expect(name).not.toBe('');
    await service.call('POST', '/tokens', { type: 'token', data: 'x' });
    const allowed = ['log:read', 'application:read'] as const;
    const reader = await signIn({ managementKey: await service.application([...allowed], 'management') });
    const cell = `<bdi>${name}</bdi>`;
    expect((await reader.get('/logs')).text).toContain(cell);
    const reads = await reader.search('/logs', { operation: 'read', entity_type: 'application' });
    expect(reads.text).toContain('application or its keys read');
    const auditor = await signIn({ managementKey: await service.application(['log:read'], 'management') });
    const { status, text } = await auditor.get('/logs');
    expect(status).toBe(200);
    expect(text).toContain(String(body['id']));
    expect(text).not.toContain(cell);
  });

  test.each([
    ['from', 'yesterday', 'Must be a date or a date-time'],
    ['to', '2026-99-99', 'Must be a date or a date-time'],
    ['entity_id', 'x'.repeat(1_001), 'Must have at most 1000 characters.'],
  ])('returns 400 and shows the error next to the field %s', async (field, value, message) => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/logs');
    const answer = await browser.search('/logs', { [field]: value });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
  });

  test('returns 400 for a period that ends before it begins, also in an export', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/logs');
    const period = { from: '2026-02-01', to: '2026-01-01' };
    const answer = await browser.search('/logs', period);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Must be after the start.')]);
    expect(answer.text).not.toContain('No access log entry matches the filter.');
    expect((await browser.post('/logs/export', { ...period, format: 'csv' })).status).toBe(400);
  });

  test('shows markup in a person’s name and reason as text', async () => {
    const { service, signIn } = await startTestConsole();
    const headers = { 'service-person': encodeURIComponent('<img src=x>{{ page.csrf }}'), 'service-reason': 'a%20b' };
    expect((await service.call('POST', '/tokens', { type: 'token', data: 'x' }, { headers })).status).toBe(201);
    const browser = await signIn();
    const { text } = await browser.get('/logs');
    expect(text).toContain('&lt;img src=x&gt;{{ page.csrf }}');
    expect(text).not.toContain('<img src=x');
  });

  test('is not shown for a key without log:read', async () => {
    const { service, signIn } = await startTestConsole();
    const browser = await signIn({ privateKey: service.key });
    const { status, text } = await browser.get('/logs');
    expect(status).toBe(403);
    expect(text).toContain('the key of a management application with the permission log:read');
  });
});

describe('an export of the access log', () => {
  test('contains the filtered entries with named columns, as CSV and as JSON Lines', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: '@cmd()', type: 'token', data: 'x' });
    const browser = await signIn();
    await browser.get('/logs');
    const csv = await browser.post('/logs/export', { format: 'csv', operation: 'create', entity_type: 'token' });
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(csv.headers['content-disposition']).toContain('access-log.csv');
    const [head, line, ...rest] = csv.text.split('\r\n');
    expect(head).toMatch(/^created_at,actor_type,actor_id,person,/);
    // A spreadsheet would treat a field that begins with an at sign as a formula.
    expect(line).toContain("'@cmd()");
    expect(rest).toEqual(['']);
    const lines = await browser.post('/logs/export', { format: 'jsonl', operation: 'create', entity_type: 'token' });
    expect(JSON.parse(lines.text.trim())).toMatchObject({ operation: 'create', entity_id: '@cmd()' });
  });

  test('is one entry in the access log, which says how many entries were exported', async () => {
    const { service, signIn } = await startTestConsole();
    for (let index = 0; index < 120; index += 1) {
      await service.call('POST', '/tokens', { type: 'token', data: `x${index}` });
    }
    const browser = await signIn();
    await browser.get('/tenant');
    const filter = { operation: 'create', entity_type: 'token' };
    const { text } = await browser.post('/logs/export', { format: 'jsonl', ...filter });
    expect(text.trim().split('\n')).toHaveLength(120);
    const { body } = await service.call('GET', '/logs?entity_type=log', undefined, { key: service.managementKey });
    expect(body['data']).toEqual([
      expect.objectContaining({ message: 'access log exported: 120 entries', person: 'Ada Lovelace' }),
    ]);
  });

  test('contains the entries from before the clock was set back, as the page does', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: 'later', type: 'token', data: 'x' });
    service.clock.step(-10 * 60_000);
    await service.call('POST', '/tokens', { id: 'earlier', type: 'token', data: 'x' });
    const browser = await signIn();
    await browser.get('/logs');
    const filter = { operation: 'create', entity_type: 'token' };
    const { text } = await browser.post('/logs/export', { format: 'jsonl', ...filter });
    const ids = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).entity_id);
    expect(ids).toEqual(['later', 'earlier']);
  });

  test('of several pages contains each entry once after the clock was set back', async () => {
    const { service, signIn } = await startTestConsole();
    const create = async (count: number) => {
      for (let index = 0; index < count; index += 1)
        await service.call('POST', '/tokens', { type: 'token', data: `${index}` });
    };
    await create(120);
    service.clock.step(-10 * 60_000);
    await create(110);
    const browser = await signIn();
    await browser.get('/logs');
    const { text } = await browser.post('/logs/export', { format: 'jsonl' });
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const created = lines.filter(({ operation, entity_type }) => operation === 'create' && entity_type === 'token');
    expect([created.length, new Set(created.map(({ entity_id }) => entity_id)).size]).toEqual([230, 230]);
    const { body } = await service.call('GET', '/logs?entity_type=log', undefined, { key: service.managementKey });
    const messages = (body['data'] as readonly { message: string }[]).map(({ message }) => message);
    expect(messages).toContain(`access log exported: ${lines.length} entries`);
  });

  test('returns 400 for an unknown format', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/logs');
    expect((await browser.post('/logs/export', { format: 'xml' })).status).toBe(400);
  });
});
