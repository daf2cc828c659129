import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { writeMongoKeys } from '#src/adapters/mongodb/backup/write-mongo-keys.js';
import { connectMongo } from '#src/adapters/mongodb/connection.js';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { fill, unread } from '../../rotation/support.js';
import { http, run, startService, until } from '../../support/process.js';
import { killedHolding } from '../killed-holding.js';
import { serverWithUsers } from '../server-with-users.js';
import { storedIn, vaultOnServers } from './support.js';

test('a user with these rights can restore keys, even after an interruption, but not over other keys', {
  timeout: 300_000,
}, async () => {
  const { prepare, mongodb, keys } = await serverWithUsers();
  expect((await prepare('vault')).code).toBe(0);
  async function* lines(from: number, to: number, isCutOff = false) {
    for (let n = from; n < to; n += 1) {
      const row = { _id: `key ${n}`, wrapped: 'w', destroyed_at: null };
      yield `${JSON.stringify({ table: 'tenant_keys', row })}\n`;
    }
    if (isCutOff) throw new Error('cut off');
  }
  const nothing = { ids: new Set<string>(), madeAt: 0 };
  const restore = (database: string, given: AsyncIterable<string>) =>
    writeMongoKeys(keys, `${database}_keys`, given, nothing);
  const client = await MongoClient.connect(mongodb);
  onTestFinished(() => client.close());
  const mark = async (database: string) =>
    (
      await client
        .db(`${database}_keys`)
        .collection<{ _id: string; value: unknown }>('meta')
        .findOne({ _id: 'restoring' })
    )?.value;

  await expect(restore('vault', lines(0, 1_500, true))).rejects.toThrow('cut off');
  expect(await mark('vault')).not.toBe('ended');
  await restore('vault', lines(0, 1_600));
  expect(await mark('vault')).toBe('ended');
  expect(await client.db('vault_keys').collection('tenant_keys').countDocuments()).toBe(1_600);
  await expect(restore('vault', lines(0, 1_600))).rejects.toThrow('the key store already contains keys');

  expect((await prepare('mixed')).code).toBe(0);
  await expect(restore('mixed', lines(0, 1_500, true))).rejects.toThrow('cut off');
  await expect(restore('mixed', lines(10, 15))).rejects.toThrow('the key store contains keys from another backup');
  expect(await mark('mixed')).not.toBe('ended');
});

test('a user with these rights can abort a transaction that a killed process left', { timeout: 300_000 }, async () => {
  const { prepare, keys } = await serverWithUsers();
  expect((await prepare('vault')).code).toBe(0);
  const connection = await connectMongo(keys, 'vault_keys');
  onTestFinished(connection.close);
  const meta = keyCollections.meta(connection.db);
  await meta.insertOne({ _id: 'root_check', value: '', uses: 0 });
  await killedHolding('root_check', keys, 'vault_keys');
  // The limit is far below 60 s, the time after which the server itself aborts a transaction.
  await until('a change', 30_000, () =>
    connection.call(() => meta.updateOne({ _id: 'root_check' }, { $inc: { uses: 1 } })).catch(() => undefined),
  );
  expect(await meta.findOne({})).toMatchObject({ uses: 1 });
});

test('a user with the rights that prepare grants can rebuild; a user without them gets an error before the rebuild starts', {
  timeout: 300_000,
}, async () => {
  const { prepare, mongodb, rows: rowsUrl, keys: keysUrl } = await serverWithUsers();
  const addresses = { mongodb, rows: rowsUrl, keys: keysUrl };
  const database = `strongroom_test_${randomBytes(8).toString('hex')}`;
  const created = { code: 0, stderr: '', stdout: 'MongoDB: created the user rows\nMongoDB: created the user keys\n' };
  expect(await prepare(database)).toMatchObject(created);
  const { options, key, rows, keys } = await vaultOnServers(addresses, database);
  const service = await startService(['--role', 'all'], options);
  const made = await fill(service.address, { key }, 50);
  const [gone = ''] = made.keys();
  const rebuild = ['projections', 'rebuild', '--all', '--yes'];
  expect(await run(rebuild, options)).toMatchObject({ code: 0, stdout: expect.stringContaining('rebuilt tokens\n') });
  expect(await storedIn({ rows, keys })).toMatchObject({ rows: { token_rows_2: 50 }, write: [2], keys: [2] });
  expect((await http('DELETE', `${service.address}/tokens/${gone}`, { key })).status).toBe(204);
  made.delete(gone);
  await fill(service.address, { key }, 3);

  // Simulates the state after hundreds of rebuilds.
  await keys
    .collection<{ _id: number; destroyed_at: number; wrapped: null }>('generation_keys')
    .insertOne({ _id: 300, destroyed_at: 1, wrapped: null });
  expect(await run(rebuild, options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('`strongroom cluster prepare` gives both what they need'),
  });
  expect(await storedIn({ rows, keys })).toMatchObject({ read: 2, write: [2] });
  expect(await unread(service.address, key, made)).toEqual([]);
  const updated = { code: 0, stderr: '', stdout: 'MongoDB: updated the user rows\nMongoDB: updated the user keys\n' };
  expect(await prepare(database)).toMatchObject(updated);
  const last = await run(rebuild, options);
  expect(last.code, last.stderr).toBe(0);
  expect(await unread(service.address, key, made)).toEqual([]);
  expect((await service.stop()).code).toBe(0);
});
