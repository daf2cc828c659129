import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startTestConsole } from '../support/console/console.js';
import { unzip } from '../support/console/unzip.js';
import { tempDir } from '../support/process.js';

describe('the evidence page', () => {
  test('shows the public key, but only to a key with log:read', async () => {
    const { service, signIn } = await startTestConsole();
    expect((await (await signIn()).get('/evidence')).text).toContain('BEGIN PUBLIC KEY');
    const other = await signIn({ privateKey: service.key });
    expect((await other.get('/evidence')).status).toBe(403);
  });

  test('a bundle about one token verifies itself, and contains nothing about another token', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: 'person-1', type: 'token', data: 'marker-of-person-1' });
    await service.call('POST', '/tokens', { id: 'person-2', type: 'token', data: 'x' });
    const browser = await signIn({ name: 'Ada Lovelace' });
    await browser.get('/evidence');
    const { headers, bytes } = await browser.post('/evidence/bundle', { ids: 'person-1' });
    expect(headers['content-type']).toBe('application/zip');
    const files = unzip(bytes);
    expect([...files.keys()]).toEqual(expect.arrayContaining(['evidence/history.jsonl', 'evidence/verify.mjs']));
    for (const [name, content] of files) {
      expect(content.includes('person-2'), name).toBe(false);
      expect(content.includes('marker-of-person-1'), name).toBe(false);
    }
    const folder = tempDir();
    for (const [name, content] of files) writeFileSync(join(folder, basename(name)), content);
    const printed = execFileSync(process.execPath, ['verify.mjs'], { cwd: folder, encoding: 'utf8' });
    expect(printed).toContain('included in a signed checkpoint');
  });

  test.each([
    ['nothing', {}, 'give either ids of tokens or a period'],
    ['both', { ids: 'a', from: '2026-01-01', to: '2026-02-01' }, 'give either ids of tokens or a period'],
    ['a period that ends before it begins', { from: '2026-02-01', to: '2026-01-01' }, 'must be after the beginning'],
    ['an invalid date', { from: 'x', to: '2026-01-01' }, 'must be a date or a date-time'],
  ])('a bundle about %s returns 400', async (_, form, message) => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/evidence');
    const answer = await browser.post('/evidence/bundle', form);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  });

  test('says so if a bundle is about a token that never existed', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/evidence');
    const answer = await browser.post('/evidence/bundle', { ids: 'never' });
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('has ever existed')]);
  });
});
