import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { BSON, MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { openMongoKeysToCopy } from '#src/adapters/mongodb/backup/copy-mongo-keys.js';
import { writeMongoKeys } from '#src/adapters/mongodb/backup/write-mongo-keys.js';
import { keyCollections } from '#src/adapters/mongodb/key-store/key-collections.js';
import { readErasedList } from '#src/cli/backup/erased-list.js';
import { restoreStores } from '#src/compose/backup/restore-stores.js';
import { loadConfig } from '#src/compose/config/config.js';
import { fill, rootKeyIn, unread } from '../rotation/support.js';
import { http, jsonResult, loggedAddress, run, runJson, startService } from '../support/process.js';
import { clusterVault } from './cluster-vault.js';
import { databaseOfTest, mongoUrl } from './own-database.js';

const nothingErased = { tenants_deleted: 0, tokens_deleted: 0, cvcs_purged: 0 };

test('a cluster’s keys, restored with today’s list of erased keys, open everything except data that was erased since the backup', {
  timeout: 600_000,
}, async () => {
  const vault = await clusterVault();
  const { dir, database, rootKeyFile, key, other, rows, keys } = vault;
  const env = { ...vault.env, STRONGROOM_ADMIN_PORT: '0' };
  const identity = await generateIdentity();
  const identityFile = join(dir, 'identity');
  writeFileSync(identityFile, `${identity}\n`, { mode: 0o600 });
  const recipient = await identityToRecipient(identity);

  const service = await startService([], { env });
  const made = await fill(service.address, { key }, 30);
  const [deleted = ''] = made.keys();
  const backup = join(dir, 'backup');
  const written = await runJson(['backup', backup, '--recipient', recipient], { env });
  expect(written['files']).toEqual(['keys.age', 'erased-keys.txt', 'manifest.json']);
  const admin = await loggedAddress(service, 'admin_address');
  expect((await http('GET', `${admin}/metrics`)).text).toContain(
    `strongroom_last_backup_timestamp_seconds ${Date.parse(String(written['made_at'])) / 1_000}\n`,
  );
  const wrapped = await keyCollections.dataKeys(keys.db).find({}).toArray();
  const files = ['keys.age', 'erased-keys.txt', 'manifest.json'].map((name) => readFileSync(join(backup, name)));
  expect(wrapped.length).toBeGreaterThan(30);
  for (const { wrapped: bytes } of wrapped) {
    if (bytes === null) throw new Error('it lives');
    expect(files.some((file) => file.includes(bytes) || file.includes(bytes.toString('base64')))).toBe(false);
  }
  const toCopy = await openMongoKeysToCopy(mongoUrl, `${database}_keys`);
  const copied: string[] = [];
  for await (const line of toCopy.lines()) copied.push(line);
  await toCopy.close();
  expect((await http('DELETE', `${service.address}/tokens/${deleted}`, { key })).status).toBe(204);
  made.delete(deleted);
  const destroyed = await keyCollections.dataKeys(keys.db).find({ wrapped: null }).toArray();
  expect(destroyed.length).toBeGreaterThan(0);
  const list = join(dir, 'erased.txt');
  await runJson(['backup', list, '--erased-only'], { env });
  await service.stop();

  const restore = ['restore', backup, '--identity', identityFile, '--erased', list];
  const refused = await run(restore, { env });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the key store already contains keys') });
  await keys.call((db) => db.dropDatabase());
  // Interrupts a restore after it has written all keys. It cannot be repeated, but `--accept-older-log` finishes it.
  const loaded = loadConfig({ env, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const interruption = new AbortController();
  const interrupted = restoreStores({
    config: loaded.config,
    rootKeys: [rootKeyIn(rootKeyFile)],
    folder: backup,
    files: [],
    keyLines: Readable.from(copied),
    erased: await readErasedList(list),
    erasedTenants: new Set(),
    onPhase(phase) {
      if (phase === 'verifying the log') interruption.abort(new Error('interrupted'));
    },
    signal: interruption.signal,
    expectAccepted: (found) => expect(found).toEqual({ tenants: [], tokens: [] }),
  });
  await expect(interrupted).rejects.toThrow('Run `strongroom restore --accept-older-log` to finish the restore.');
  const finish = { code: 1, stderr: expect.stringContaining('`strongroom restore --accept-older-log`') };
  expect(await run(['tenants', 'list'], { env })).toMatchObject(finish);
  expect(await run(restore, { env })).toMatchObject(finish);
  // A restore does not need Redis.
  const withoutRedis = { env: { ...env, STRONGROOM_REDIS_URL: 'redis://127.0.0.1:9' } };
  expect(await runJson(['restore', '--accept-older-log'], withoutRedis)).toEqual(nothingErased);
  const finished = await startService([], { env });
  expect(await unread(finished.address, key, made)).toEqual([]);
  await finished.stop();
  await keys.call((db) => db.dropDatabase());

  // Simulates an interrupted restore, which leaves only some of the keys. These keys are not usable: the vault does not
  // start, and a backup is rejected. A second restore starts from the beginning.
  async function* part() {
    for (const { _id, ...row } of wrapped.slice(0, 3)) {
      const binary = { ...row, _id: new BSON.Binary(_id), wrapped: new BSON.Binary(row.wrapped ?? Buffer.of()) };
      yield `${BSON.EJSON.stringify({ table: 'data_keys', row: binary }, { relaxed: false })}\n`;
    }
    throw new Error('cut off');
  }
  await expect(writeMongoKeys(mongoUrl, `${database}_keys`, part(), { ids: new Set(), madeAt: 0 })).rejects.toThrow(
    'cut off',
  );
  const half = await run(['tenants', 'list'], { env });
  expect(half).toMatchObject({ code: 1, stderr: expect.stringContaining('run `strongroom restore` again') });
  expect(await run(['backup', join(dir, 'half'), '--recipient', recipient], { env })).toMatchObject({ code: 1 });
  const doctor = await run(['doctor', '--json'], { env });
  expect(jsonResult(doctor)['findings']).toContainEqual(expect.objectContaining({ check: 'keys', state: 'problem' }));
  expect(await runJson(restore, { env }), 'the log knows of the deletion').toEqual(nothingErased);
  for (const { _id } of destroyed) {
    expect((await keyCollections.dataKeys(keys.db).findOne({ _id }))?.wrapped).toBeNull();
  }
  const again = await startService([], { env });
  expect(await unread(again.address, key, made)).toEqual([]);
  expect((await http('GET', `${again.address}/tokens/${deleted}`, { key })).status).toBe(404);
  await fill(again.address, { key }, 3);
  await again.stop();

  // The key store now records that the log was once longer. The vault therefore refuses to start until an operator
  // accepts the shorter log.
  const { meta } = keyCollections;
  await meta(keys.db).updateOne({ _id: 'log' }, { $set: { value: Number.MAX_SAFE_INTEGER } }, { upsert: true });
  const behind = await run(['tenants', 'list'], { env });
  expect(behind).toMatchObject({ code: 1, stderr: expect.stringContaining('the log is behind its keys') });
  expect(await runJson(['restore', '--accept-older-log'], { env })).toEqual(nothingErased);
  expect(await run(['tenants', 'list'], { env })).toMatchObject({ code: 0 });

  const last = join(dir, 'last');
  await runJson(['backup', last, '--recipient', recipient], { env });
  // Simulates the deletion of a tenant after the log was copied: the tenant's keys are destroyed, but the log does not
  // contain the deletion.
  await keyCollections
    .tenantKeys(keys.db)
    .updateMany({ tenant: other.tenantId }, { $set: { wrapped: null, destroyed_at: Date.now() } });
  const newest = join(dir, 'newest.txt');
  await runJson(['backup', newest, '--erased-only'], { env });
  await keys.call((db) => db.dropDatabase());
  const older = ['restore', last, '--identity', identityFile, '--erased', newest];
  const unaccepted = await run(older, { env });
  expect(unaccepted).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /the log in EventStoreDB is older than .*: since then, 1 tenant was deleted with all/,
    ),
  });
  expect(await keys.call((db) => db.listCollections().toArray())).toEqual([]);
  const accepted = await runJson([...older, '--accept-older-log'], { env });
  expect(accepted).toEqual({ ...nothingErased, tenants_deleted: 1 });
  expect((await run(['tenants', 'list'], { env })).stdout).not.toContain(other.tenantId);
  const without = await startService([], { env });
  const { status } = await http('GET', `${without.address}/tokens`, { key: other.keys[0]?.reveal() ?? '' });
  expect(status).toBe(401);
  await fill(without.address, { key }, 1);
  await expect.poll(() => http('GET', `${without.address}/health/ready`)).toMatchObject({ status: 200 });
  await without.stop();

  const months = (await rows.db.listCollections({ name: /^access_/ }).toArray()).map(({ name }) => name).sort();
  const [month = ''] = months;
  await rows.db.collection(month).dropIndex('ref');
  const one = await run(['doctor'], { env });
  expect(one.stdout).toContain(`MongoDB lacks the index ${month}.ref`);
  await rows.db.collection('token_rows_1').dropIndex('terms');
  const lacking = await run(['doctor', '--json'], { env });
  expect(jsonResult(lacking)['findings']).toContainEqual({
    check: 'indexes',
    state: 'problem',
    says: `MongoDB lacks 2 indexes: token_rows_1.terms, ${month}.ref`,
    do: 'Run `strongroom init`, which creates what is missing.',
  });
  // Simulates rows and an access log that were restored without any of their indexes.
  const earlier = 'access_2025_12';
  await rows.db
    .collection(month)
    .aggregate([{ $out: earlier }])
    .toArray();
  for (const name of ['directory', ...months]) await rows.db.collection(name).dropIndexes();
  expect(await run(['init'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already initialized; no tenant was created'),
  });
  for (const name of [earlier, ...months]) {
    const indexes = await rows.db.collection(name).listIndexes().toArray();
    expect([name, indexes.map((index) => index['name'])]).toEqual([name, ['_id_', 'time', 'ref']]);
  }
  const healthy = jsonResult(await run(['doctor', '--json'], { env }))['findings'] as { state: string }[];
  // No worker ran, so no checkpoint confirms that the rows are at the head of the log. This alone is not a problem.
  expect(healthy.filter(({ state }) => state === 'problem')).toEqual([]);
});

test('a backup that cannot read the keys leaves no connection open, so that the command ends', async () => {
  const client = new MongoClient(mongoUrl);
  const db = client.db(`strongroom_test_${randomBytes(8).toString('hex')}`);
  onTestFinished(async () => {
    await db.dropDatabase();
    await client.close();
  });
  await db.collection('numbers').insertOne({ zero: 0 });
  const failing = [{ $project: { _id: 'root_check', value: { $divide: [1, '$zero'] } } }];
  await db.createCollection('meta', { viewOn: 'numbers', pipeline: failing });
  const copy = async (): Promise<void> => {
    const keys = await openMongoKeysToCopy(mongoUrl, db.databaseName);
    try {
      await keys.lines()[Symbol.asyncIterator]().next();
    } finally {
      await keys.close();
    }
  };

  await expect(copy()).rejects.toThrow('mongodb: MongoServerError');
  const ofVault = [
    { $currentOp: { allUsers: true, idleConnections: true } },
    { $match: { appName: `strongroom ${db.databaseName}` } },
  ];
  await expect.poll(() => client.db('admin').aggregate(ofVault).toArray()).toEqual([]);
});

test('a restore that another one has taken over writes nothing more, so it brings no erased key back', async () => {
  const { connection } = await databaseOfTest();
  const { db } = connection;
  const restore = (lines: AsyncIterable<string>, erased: readonly string[]) =>
    writeMongoKeys(mongoUrl, db.databaseName, lines, { ids: new Set(erased), madeAt: 1 });
  async function* lines(count: number, meanwhile?: { readonly at: number; readonly run: () => Promise<void> }) {
    for (let number = 0; number <= count; number += 1) {
      if (number === meanwhile?.at) await meanwhile.run();
      if (number === count) return;
      const row = { _id: `key ${number}`, wrapped: 'w', destroyed_at: null };
      yield `${JSON.stringify({ table: 'tenant_keys', row })}\n`;
    }
  }
  const takenOver = 'another `strongroom restore` has taken over';
  const [early, late] = ['key 5', 'key 1200'];

  const halfWay = { at: 1_100, run: () => restore(lines(1_500), [early, late]) };
  await expect(restore(lines(1_500, halfWay), [])).rejects.toThrow(takenOver);
  const { tenantKeys, meta } = keyCollections;
  const living = await tenantKeys(db).countDocuments({ destroyed_at: null });
  expect(living).toBe(1_498);

  await meta(db).updateOne({ _id: 'restoring' }, { $set: { value: 'cut off' } });
  const logOf = () => meta(db).findOne({ _id: 'log' });
  const atTheEnd = {
    at: 1_500,
    async run() {
      await restore(lines(1_500), [early, late]);
      // `acceptLog` records the end of the log.
      await meta(db).updateOne({ _id: 'log' }, { $set: { value: 5 } });
    },
  };
  await expect(restore(lines(1_500, atTheEnd), [early])).rejects.toThrow(takenOver);
  expect(await tenantKeys(db).countDocuments({ destroyed_at: null })).toBe(1_498);
  expect((await logOf())?.value).toBe(5);
});
