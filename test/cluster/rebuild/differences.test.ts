import type { UpdateFilter } from 'mongodb';
import { expect, test } from 'vitest';
import type { RowDocument } from '#src/adapters/mongodb/token-rows/row-document.js';
import { createPlain } from '../../http/routes/support.js';
import { rebuildTokens } from '../../rebuild/support.js';
import { fill } from '../../rotation/support.js';
import { run, startService } from '../../support/process.js';
import { startTestService } from '../../support/test-service.js';
import { databasesOf, storedIn, vaultOnServers } from './support.js';

test('after rows were changed by hand, the rebuild keeps the old rows in use and names the tokens', async () => {
  const service = await startTestService();
  for (let made = 0; made < 8; made += 1) await createPlain(service);
  const stores = await databasesOf(service.database ?? '');
  const rows = stores.rows.collection<RowDocument>('token_rows_1');
  const streams = (await rows.find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id);
  const changes: readonly UpdateFilter<RowDocument>[] = [
    { $set: { expires_at: 99_999_999_999_999 } },
    { $set: { terms: [Buffer.alloc(16)] } },
    { $set: { content: Buffer.alloc(64) } },
    { $set: { 'life.createdBy': 'x' } },
    { $set: { fingerprint: Buffer.alloc(32) } },
  ];
  const changed = streams.slice(0, changes.length + 1);
  for (const [n, change] of changes.entries()) await rows.updateOne({ _id: streams[n] ?? '' }, change);
  await rows.deleteOne({ _id: changed.at(-1) ?? '' });
  const before = await rows.find().sort({ _id: 1 }).toArray();
  expect(await rebuildTokens(service)).toEqual({ outcome: 'different', different: 6, examples: changed });
  expect(await rows.find().sort({ _id: 1 }).toArray()).toEqual(before);
  expect(await storedIn(stores)).toMatchObject({ read: 1, write: [1], keys: [1], rows: { token_rows_1: 7 } });
  expect(await rebuildTokens(service, true)).toEqual({ outcome: 'done', different: 6, examples: changed });
  expect(await storedIn(stores)).toMatchObject({ read: 3, write: [3], keys: [3], rows: { token_rows_3: 8 } });
  expect(await rebuildTokens(service)).toEqual({ outcome: 'done', different: 0, examples: [] });
  await service.close();
});

test('a lost key stops the rebuild, and the rebuild names the token and changes nothing', async () => {
  const { options, key, rows, keys } = await vaultOnServers();
  const service = await startService(['--role', 'api'], options);
  await fill(service.address, { key }, 1);
  await service.stop();
  const [row] = await rows.collection<RowDocument>('token_rows_1').find().toArray();
  await keys.collection('data_keys').deleteMany({});
  const { code, stdout, stderr } = await run(['projections', 'rebuild', 'tokens', '--yes'], options);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain(`its key is lost; nothing was changed:\n  ${row?._id}\n`);
  expect(await storedIn({ rows, keys })).toMatchObject({ read: 1, write: [1], keys: [1], rows: { token_rows_1: 1 } });
});

type DirectoryRow = { _id: string; kind: string; tenant: string; revision: number; keys: readonly unknown[] };

test('the directory is replaced without rows that no event explains, and the shredder repeats its work', async () => {
  const service = await startTestService();
  const { id } = await createPlain(service);
  await service.call('DELETE', `/tokens/${id}`);
  const { rows } = await databasesOf(service.database ?? '');
  const directory = rows.collection<DirectoryRow>('directory');
  const all = () => directory.find().sort({ _id: 1 }).toArray();
  const before = await all();
  const [first] = before;
  if (first === undefined) throw new Error('there is a tenant');
  await directory.updateMany({ kind: 'application' }, { $inc: { revision: -1 } });
  await directory.deleteOne({ kind: 'tenant' });
  // Inserts three rows that do not match the log. The first row belongs to a tenant that is not in the log. The second
  // row belongs to this tenant, but the log has no events for it. The third row has a revision that is not in the log.
  await directory.insertOne({ ...first, _id: 'application-stray', tenant: 'tenant-stray', revision: 7, keys: [] });
  await directory.insertOne({ ...first, _id: 'application-stray-2', revision: 0, keys: [] });
  await directory.insertOne({ ...first, _id: 'application-stray-3', revision: 99, keys: [] });
  const { projections } = service.service;
  expect(await projections.rebuild('directory', false)).toBe('done');
  expect(await all()).toEqual(before);
  expect(await projections.rebuild('vocabulary', false)).toBe('done');
  expect((await createPlain(service)).id).toBeTruthy();
  await service.close();
});
