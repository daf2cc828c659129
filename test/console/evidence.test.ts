import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkpointStream } from '#src/events/audit/checkpoint.js';
import { noSealedParts } from '#src/events/event.js';
import type { TestBrowser } from '../support/console/browser.js';
import { startTestConsole } from '../support/console/console.js';
import { signInLimited } from '../support/console/directory-pages.js';
import { unzip } from '../support/console/unzip.js';
import { tempDir } from '../support/process.js';
import { embeddedOnly } from '../support/profile.js';

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
    const { headers, bytes } = await madeBundle(browser, { ids: 'person-1' });
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

  test('a bundle states erasures only for an operator, because a statement counts the entries of all tenants', async () => {
    const { service, signIn } = await startTestConsole();
    for (const id of ['living', 'deleted']) await service.call('POST', '/tokens', { id, type: 'token', data: 'x' });
    await service.call('DELETE', '/tokens/deleted');
    const [browser, operator] = [await signIn(), await signIn({ isOperator: true })];
    await browser.get('/evidence');
    await browser.post('/evidence/bundle', { ids: 'living\ndeleted' });
    await expect
      .poll(async () => (await browser.get('/evidence/bundle')).text)
      .toContain('sign in with an operator code');
    expect((await browser.get('/evidence/bundle')).text).toContain('deleted');
    expect((await browser.get('/evidence/bundle.zip')).status).toBe(404);
    const path = '/logs?entity_id=living&operation=read';
    expect((await service.call('GET', path, undefined, { key: service.managementKey })).body['data']).toEqual([]);
    await browser.get('/evidence');
    expect(erasuresIn(await madeBundle(browser, { ids: 'living' }))).toEqual([]);
    await operator.get('/evidence');
    const stated = erasuresIn(await madeBundle(operator, { ids: 'living\ndeleted' }));
    expect(stated.map(({ token_id }) => token_id)).toEqual(['deleted']);
  });

  test('a bundle and its download can be recognized in the access log', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: 'person-1', type: 'token', data: 'x' });
    const browser = await signIn({ name: 'Ada Lovelace' });
    await browser.get('/evidence');
    await madeBundle(browser, { ids: 'person-1' });
    const logged = async (filter: string) => {
      const { body } = await service.call('GET', `/logs?${filter}`, undefined, { key: service.managementKey });
      const entries = body['data'] as readonly { readonly message: string; readonly person?: string }[];
      return entries.map(({ message, person }) => [message, person]);
    };
    const made = ['evidence bundle made for the token', 'Ada Lovelace'];
    expect(await logged('entity_id=person-1&operation=read')).toEqual([made]);
    expect(await logged('entity_type=log')).toContainEqual(['evidence bundle downloaded', 'Ada Lovelace']);
    await madeBundle(browser, { from: '2026-01-01', to: '2026-02-01' });
    expect(await logged('entity_type=log')).toContainEqual(['evidence bundle made for a period', 'Ada Lovelace']);
  });

  test.each([
    ['nothing', {}, 'Enter either token ids or a period'],
    ['both', { ids: 'a', from: '2026-01-01', to: '2026-02-01' }, 'Enter either token ids or a period'],
    ['a period that ends before it begins', { from: '2026-02-01', to: '2026-01-01' }, 'Must be after the start'],
    ['an invalid date', { from: 'x', to: '2026-01-01' }, 'Must be a date or a date-time.'],
  ])('a bundle about %s returns 400', async (_, form, message) => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/evidence');
    const answer = await browser.post('/evidence/bundle', form);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  });

  test('a bundle about a token that never existed reports that, and there is nothing to download', async () => {
    const { signIn } = await startTestConsole();
    const browser = await signIn();
    await browser.get('/evidence');
    expect((await browser.post('/evidence/bundle', { ids: 'never' })).location).toBe('/evidence/bundle');
    await expect.poll(async () => (await browser.get('/evidence/bundle')).text).toContain('has ever existed');
    expect((await browser.get('/evidence/bundle')).text).toContain('href="/evidence">Create another bundle');
    expect((await browser.get('/evidence/bundle.zip')).status).toBe(404);
  });

  test('a bundle belongs to the session that asked for it, until that session makes another', async () => {
    const { service, signIn } = await startTestConsole();
    await service.call('POST', '/tokens', { id: 'person-1', type: 'token', data: 'x' });
    const [owner, other] = [await signIn({ name: 'Ada' }), await signIn({ name: 'Ada' })];
    await owner.get('/evidence');
    expect((await madeBundle(owner, { ids: 'person-1' })).status).toBe(200);
    expect((await owner.get('/evidence/bundle.zip')).status).toBe(200);
    expect((await owner.get('/evidence')).text).toContain('href="/evidence/bundle"');
    expect((await other.get('/evidence')).text).not.toContain('href="/evidence/bundle"');
    expect((await other.get('/evidence/bundle')).text).toContain('No bundle');
    expect((await other.get('/evidence/bundle.zip')).status).toBe(404);
    await owner.get('/evidence');
    await owner.post('/evidence/bundle', { ids: 'never' });
    expect((await owner.get('/evidence/bundle.zip')).status).toBe(404);
    const copy = owner.copy();
    await expect.poll(async () => (await owner.get('/evidence/bundle')).text).toContain('has ever existed');
    await owner.post('/sign-out');
    expect((await copy.get('/evidence/bundle.zip')).location).toBe('/sign-in');
  });

  test('a bundle is not shown or made without log:read', async () => {
    const console = await startTestConsole();
    const browser = await signInLimited(console, ['application:read']);
    await browser.get('/session');
    expect((await browser.post('/evidence/bundle', { ids: 'a' })).status).toBe(403);
    for (const path of ['/evidence/bundle', '/evidence/bundle.zip']) {
      expect((await browser.get(path)).status, path).toBe(403);
    }
  });
});

function erasuresIn({ bytes }: { readonly bytes: Uint8Array }): readonly { readonly token_id: string }[] {
  return JSON.parse(String(unzip(Buffer.from(bytes)).get('evidence/erasures.json')));
}

/** Makes a bundle, and downloads it. */
async function madeBundle(browser: TestBrowser, scope: Readonly<Record<string, string>>) {
  expect((await browser.post('/evidence/bundle', scope)).location).toBe('/evidence/bundle');
  await expect.poll(async () => (await browser.get('/evidence/bundle')).text).toContain('Ready');
  const file = await browser.get('/evidence/bundle.zip');
  expect(file.headers['content-disposition']).toMatch(/^attachment; filename="evidence-\d{4}-\d\d-\d\d\.zip"$/);
  return file;
}

test('the file with the checkpoints contains all of them, even those of years ago', async (context) => {
  embeddedOnly(context, 'EventStoreDB takes minutes to store so many checkpoints');
  const { service, signIn } = await startTestConsole();
  const { log } = service.vault;
  await service.service.checkpointer.run();
  const [first] = await log.readNewest(checkpointStream, null, 1);
  if (first === undefined) throw new Error('there is no checkpoint');
  const total = 10_003;
  const perAppend = 500;
  for (let last = 1; last < total; last += perAppend) {
    const added = Math.min(perAppend, total - last);
    const events = Array.from({ length: added }, (_, index) => {
      const number = last + index + 1;
      return {
        id: randomUUID(),
        type: first.type,
        version: first.version,
        tenantId: '',
        actorId: 'system',
        time: first.time + number * 3_600_000,
        cmd: null,
        trace: null,
        sealed: noSealedParts,
        clear: { ...first.clear, number, hourly: number, hours: number },
      };
    });
    expect(await log.append(checkpointStream, last - 1, events)).toMatchObject({ outcome: 'appended' });
  }
  const { status, text } = await (await signIn()).get('/evidence/checkpoints.jsonl');
  expect(status).toBe(200);
  const times = text
    .trim()
    .split('\n')
    .map((line) => Date.parse(JSON.parse(line).time));
  expect(times.length).toBe(total);
  expect(times.at(-1)).toBe(first.time);
  expect(times).toEqual(times.toSorted((one, other) => other - one));
});
