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
    const found = await browser.post('/logs', { operation: 'create', entity_type: 'token', entity_id: 'first' });
    expect(found.status).toBe(200);
    expect(found.text).toContain('1–1 of 1');
    expect(found.text).toContain('value="first"');
    const none = await browser.post('/logs', { entity_id: 'first', to: '2001-01-01' });
    expect(none.text).toContain('No access log entry matches the filter.');
  });

  test.each([
    ['from', 'yesterday', 'must be a date or a date-time'],
    ['to', '2026-99-99', 'must be a date or a date-time'],
    ['entity_id', 'x'.repeat(1_001), 'must have at most 1000 characters'],
  ])('returns 400 and shows the error next to the field %s', async (field, value, message) => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/logs');
    const answer = await browser.post('/logs', { [field]: value });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(message);
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
    expect((await browser.get('/logs')).status).toBe(403);
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

  test('returns 400 for an unknown format', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/logs');
    expect((await browser.post('/logs/export', { format: 'xml' })).status).toBe(400);
  });
});
