import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openVault, rebuildTokens } from '../rebuild/support.js';
import { embeddedOnly } from '../support/profile.js';
import { startTestService } from '../support/test-service.js';

beforeEach((context) => embeddedOnly(context, 'it damages the index of SQLite'));

/** If a damaged index returned too few tokens, no response would reveal the damage. Searches must therefore fail. */
test('with a damaged index, searches fail, while reads, writes and the rebuild that repairs the index work', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'strongroom-damaged-index-'));
  const first = await startTestService({ dataDir });
  const body = { type: 'token', data: 'x', metadata: { group: 'a' } };
  for (const id of ['one', 'two', 'gone']) await first.call('POST', '/tokens', { ...body, id });
  await first.call('DELETE', '/tokens/gone');
  // The service removes erased postings from the index when it stops. To do so, it merges the index.
  await first.stop();
  const vault = openVault(dataDir);
  expect(vault.prepare('UPDATE index_blocks_1 SET entries = randomblob(3964)').run().changes).toBeGreaterThan(0);
  vault.close();

  const service = await startTestService({ dataDir, rootKey: first.rootKey });
  const call = (method: 'GET' | 'POST', path: string, sent?: object) =>
    service.call(method, path, sent, { key: first.key });
  const search = () => call('POST', '/tokens/search', { query: 'metadata.group:a' });
  expect((await search()).status).toBe(500);
  expect((await call('GET', '/tokens/one')).status).toBe(200);
  expect((await call('POST', '/tokens', { ...body, id: 'three' })).status).toBe(201);

  expect(await rebuildTokens(service)).toMatchObject({ outcome: 'done' });
  expect((await search()).body).toMatchObject({ pagination: { total_items: 3 } });
  expect(service.errors).toEqual([]);
  await service.close();
});
