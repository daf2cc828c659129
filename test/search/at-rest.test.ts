import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { pinStatements } from '#src/adapters/sqlite/database/pin-statements.js';
import { embeddedOnly } from '../support/profile.js';
import { storedPostings } from '../support/stored-postings.js';
import { startTestService, type TestService } from '../support/test-service.js';

beforeEach((context) => embeddedOnly(context, 'it looks into the files of SQLite'));

type Counts = { readonly postings: number; readonly withTerms: number };

/** Returns how many postings were added and not removed, and how many rows have search terms. */
function counts({ dataDir }: TestService): Counts {
  const database = pinStatements(join(dataDir, 'vault.db'), { readonly: true });
  const withTerms = database.prepare('SELECT count(*) FROM token_rows_1 WHERE terms IS NOT NULL OR seq IS NOT NULL');
  try {
    const postings = storedPostings(database, 1);
    const removed = postings.filter(({ kind }) => kind === 'removed').length;
    return { postings: postings.length - 2 * removed, withTerms: Number(withTerms.pluck().get()) };
  } finally {
    database.close();
  }
}

// A shorter text could occur in ciphertext by chance.
const markers = ['zqmetakey', 'ZqMetaValue', 'zqcontainer', 'ZqIndexed', 'zqid-1'];

const body = {
  id: 'zqid-1',
  type: 'token',
  data: 'ZqIndexed text',
  containers: ['/zqcontainer/deep/'],
  metadata: { zqmetakey: 'ZqMetaValue' },
  search_indexes: ['{{ data }}'],
};

/** Threat: an attacker who has the files reads the search terms of tokens. */
test('files contain search terms only as keyed hashes', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-at-rest-'));
  const service = await startTestService({ dataDir });
  await service.call('POST', '/tokens', body);
  const patch = { metadata: { zqmetakey: 'ZqMetaValue again' }, data: 'ZqIndexed again' };
  await service.call('PATCH', '/tokens/zqid-1', patch);
  const query = 'container:/zqcontainer/* AND metadata.zqmetakey:"zqmetavalue again" AND data:"ZQINDEXED AGAIN"';
  const found = await service.call('POST', '/tokens/search', { query });
  expect(found.body['pagination']).toMatchObject({ total_items: 1 });
  await service.service.close();
  const names = (await readdir(dataDir)).filter((name) => name !== 'lock');
  expect(names).toEqual(expect.arrayContaining(['vault.db', 'keys.db']));
  for (const name of names) {
    const text = (await readFile(join(dataDir, name))).toString('latin1').toLowerCase();
    for (const marker of markers) expect(text.includes(marker.toLowerCase()), `${marker} in ${name}`).toBe(false);
  }
  await rm(dataDir, { recursive: true, force: true });
});

/**
 * Threat: an attacker who may search finds or counts a person through the index, although the person's token was
 * deleted.
 */
test('postings follow the token: an update replaces them, and a deletion or an expiry removes them', async () => {
  const service = await startTestService();
  const empty = { postings: 0, withTerms: 0 };
  expect(counts(service)).toEqual(empty);

  await service.call('POST', '/tokens', body);
  // The token has ten postings: all, id, type, fingerprint, creator, the container with its two parent levels,
  // metadata, and index.
  expect(counts(service)).toEqual({ postings: 10, withTerms: 1 });
  await service.call('PATCH', '/tokens/zqid-1', { metadata: { more: 'x' }, data: 'other', containers: ['/flat/'] });
  // After the update, the token has one container level fewer and one more metadata entry. It also has a posting for
  // the application that made the update.
  expect(counts(service)).toEqual({ postings: 11, withTerms: 1 });
  await service.call('DELETE', '/tokens/zqid-1');
  expect(counts(service)).toEqual(empty);

  const expiresAt = new Date(service.clock.now() + 1_000).toISOString();
  await service.call('POST', '/tokens', { ...body, expires_at: expiresAt });
  service.clock.advance(1_000);
  await service.service.sweep.run();
  expect(counts(service)).toEqual(empty);

  await service.call('POST', '/tokens', { ...body, expires_at: new Date(service.clock.now() + 1_000).toISOString() });
  service.clock.advance(1_000);
  // The token is overdue, but its expiry is not recorded yet. The append that begins the new life first records this
  // expiry.
  await service.call('POST', '/tokens', { ...body, metadata: {} });
  expect(counts(service)).toEqual({ postings: 9, withTerms: 1 });
  await service.close();
});

test('a purge of a cvc leaves the postings unchanged', async () => {
  const service = await startTestService();
  const card = { id: 'a-card', type: 'card', data: { number: '4242424242424242', cvc: '123' } };
  await service.call('POST', '/tokens', card);
  const before = counts(service);
  expect((await service.call('DELETE', '/tokens/a-card/cvc')).status).toBe(204);
  expect(counts(service)).toEqual(before);
  const found = await service.call('POST', '/tokens/search', { query: 'type:card' });
  expect(found.body['pagination']).toMatchObject({ total_items: 1 });
  await service.close();
});

/** If the stored count of a common term became wrong, every later total would be wrong too. */
test('the counts of common terms stay exact while tokens are created and deleted', async () => {
  const service = await startTestService();
  const total = async (query: string) => {
    const { body: answer } = await service.call('POST', '/tokens/search', { query, size: 1 });
    return (answer['pagination'] as { readonly total_items: number }).total_items;
  };
  const create = (i: number) =>
    service.call('POST', '/tokens', { ...body, id: `common-${i}`, metadata: { a: `${i % 2}` } });
  for (let i = 0; i < 70; i += 1) await create(i);
  expect([await total(''), await total('metadata.a:0'), await total('type:token')]).toEqual([70, 35, 70]);
  for (let i = 0; i < 60; i += 1) await service.call('DELETE', `/tokens/common-${i}`);
  expect([await total(''), await total('metadata.a:0'), await total('type:token')]).toEqual([10, 5, 10]);
  for (let i = 0; i < 70; i += 1) await create(i);
  expect([await total(''), await total('metadata.a:1'), await total('container:/zqcontainer/*')]).toEqual([70, 35, 70]);
  for (let i = 0; i < 70; i += 1) await service.call('DELETE', `/tokens/common-${i}`);
  expect(counts(service)).toEqual({ postings: 0, withTerms: 0 });
  await service.close();
});

test('after a restart, the service finds what was stored before, because the search key is kept', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-restart-'));
  const first = await startTestService({ dataDir });
  await first.call('POST', '/tokens', body);
  await first.stop();
  const second = await startTestService({ dataDir, rootKey: first.rootKey });
  const { body: answer } = await second.call('POST', '/tokens/search', { query: 'id:zqid-1' }, { key: first.key });
  expect(answer['pagination']).toMatchObject({ total_items: 1 });
  await second.close();
});
