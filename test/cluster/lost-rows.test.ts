import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Collection, type Db, MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { directoryIndexes } from '#src/adapters/mongodb/directory/directory-indexes.js';
import { issueKey, revokeKey } from '#src/commands/tenancy/api-keys.js';
import { createTenant } from '#src/commands/tenancy/create-tenant.js';
import { updateToken } from '#src/commands/tokens/update-token.js';
import { tokenPermissions } from '#src/domain/access/permission.js';
import { apiKeyHash } from '#src/domain/tenancy/api-key.js';
import { tenantStream } from '#src/events/tenancy/streams.js';
import { tokenStream } from '#src/events/tokens/stream-name.js';
import { KeyLost } from '#src/vault/key-lost.js';
import { operate } from '../audit/operate.js';
import { openClusterService } from '../support/cluster-service.js';
import { rule } from '../support/test-service.js';
import { mongoUrl } from './own-database.js';

async function vaultOnMongo() {
  const options = { rootKey: randomBytes(32), cvcRetentionMs: 3_600_000, onError: () => undefined };
  const { service, database, another, remove } = await openClusterService(options);
  const client = await MongoClient.connect(mongoUrl);
  onTestFinished(async () => {
    await service.close();
    await remove();
    await client.close();
  });
  const access = { kind: 'rules', rules: [rule('/', 'reveal', tokenPermissions)] } as const;
  const application = { name: 'all', type: 'private', access, expiresAt: null } as const;
  const { keys, tenantId } = await createTenant(service.vault, 'default', [application]);
  const reasons = async () => (await service.state()).reasons;
  expect(await reasons()).toEqual([]);
  return {
    service,
    /** Opens the vault in another process's place. */
    async reopen() {
      const opened = await another();
      onTestFinished(() => opened.close());
      return opened;
    },
    db: client.db(database),
    keysDb: client.db(`${database}_keys`),
    key: keys[0]?.reveal() ?? '',
    tenantId,
    reasons,
  };
}

test('if EventStoreDB lacks events that the rows contain, a running process is not ready', async () => {
  const { service, db, reasons } = await vaultOnMongo();
  const checkpoints = db.collection<{ _id: string; position: number }>('checkpoints');
  const record = (position: number) =>
    checkpoints.updateOne({ _id: 'tokens' }, { $set: { position } }, { upsert: true });
  const head = await service.vault.log.head();
  await record(head + 1);
  await expect.poll(reasons).toEqual(['EventStoreDB lacks events that MongoDB has recorded: run `strongroom doctor`']);
  await record(head);
  await expect.poll(reasons).toEqual([]);
});

test('if the rows are dropped while a process runs, it is not ready, keys get 503 instead of 401, and init creates nothing', async () => {
  const { service, db, reasons } = await vaultOnMongo();
  expect(await service.vault.directory.byKeyHash('unknown')).toBeNull();

  await db.dropDatabase();
  await expect(service.vault.directory.byKeyHash('unknown')).rejects.toMatchObject({ reason: 'generations_missing' });
  await expect.poll(reasons).toEqual(['MongoDB lacks the record of which rows are in use: run `strongroom doctor`']);
  const head = await service.vault.log.head();
  await expect(operate(service, 'init', { name: 'another' })).rejects.toThrow('the vault is already initialized');
  expect(await service.vault.log.head()).toBe(head);
});

test('if the record of which rows are in use is damaged, reads fail instead of waiting forever, and the state says why', async () => {
  const { service, db, reasons } = await vaultOnMongo();
  const generations = db.collection('generations');
  const sound = await generations.findOne({});
  if (sound === null) throw new Error('there is no record');
  for (const damage of [{ read: 9 }, { read: '1' }, { write: null }, { versions: null }]) {
    await generations.updateOne({}, { $set: damage });
    const read = async () => service.vault.rows.get('token-0');
    const outcome = await Promise.race([read().catch(String), wait(10_000, 'still waiting')]);
    expect(outcome, JSON.stringify(damage)).toMatch(/which rows are in use, .* is damaged\. .*run `strongroom init`/);
    await expect
      .poll(reasons)
      .toEqual(['the record in MongoDB of which rows are in use is damaged: run `strongroom doctor`']);
    await generations.replaceOne({}, sound);
    await expect.poll(reasons).toEqual([]);
  }
});

/** Copies all collections of these databases. The returned function puts the copies back. */
async function copyOf(databases: readonly Db[]): Promise<() => Promise<void>> {
  const collections = (await Promise.all(databases.map((each) => each.collections()))).flat();
  const copyInto = (from: Collection, name: string) => from.aggregate([{ $out: name }]).toArray();
  for (const from of collections) await copyInto(from, `copy_of_${from.collectionName}`);
  return async () => {
    for (const { dbName, collectionName: name } of collections) {
      const from = databases.find(({ databaseName }) => databaseName === dbName)?.collection(`copy_of_${name}`);
      if (from !== undefined) await copyInto(from, name);
    }
  };
}

test('after an older copy of MongoDB is restored, a process without a worker neither reveals a deleted token nor accepts a revoked key', async () => {
  const { service, reopen, db, keysDb, key, tenantId } = await vaultOnMongo();
  const [application] = await service.vault.directory.list('application');
  const operator = { tenantId, actor: { kind: 'operator' }, traceId: null } as const;
  const issued = await issueKey(service.vault, operator, application?.id ?? '', null);
  if (!issued.ok) throw new Error('the operator may issue a key');
  const { key: issuedKey, shown } = issued.value;
  for (const id of ['deleted', 'replaced']) {
    await operate(service, 'tokens-create', { key, request: { id, type: 'token', data: 'old' } });
  }
  const putBack = await copyOf([db, keysDb]);

  const caller = await service.authenticate(key);
  if (caller === null) throw new Error('the key must be valid');
  const context = { caller, traceId: 'trace', beganAt: performance.now(), idempotency: null };
  expect((await updateToken(service.vault, context, 'replaced', { data: 'new' }, null)).ok).toBe(true);
  await operate(service, 'tokens-delete', { key, id: 'deleted' });
  expect((await revokeKey(service.vault, operator, application?.id ?? '', issuedKey.id)).ok).toBe(true);
  await putBack();

  const reopened = await reopen();
  const dataOf = (id: string) => operate(reopened, 'tokens-get', { key, id }).catch((error: Error) => error.message);
  expect(await dataOf('deleted')).toMatch(/no such token/);
  expect(await dataOf('replaced')).toMatchObject({ data: 'new' });
  expect(await reopened.authenticate(shown?.reveal() ?? '')).toBeNull();
});

test.each(['tenant_keys', 'data_keys'])(
  'if %s lacks keys, a process is not ready, and becomes ready without a restart once they are back',
  async (collection) => {
    const { service, keysDb, reasons, key, tenantId } = await vaultOnMongo();
    await operate(service, 'tokens-create', { key, request: { id: 'kept', type: 'token', data: 'x' } });
    const names = (await service.vault.keys.tenantKeys(tenantId))?.names;
    if (names === undefined) throw new Error('the tenant has keys');
    const keys = keysDb.collection(collection);
    const stored = await keys.find().toArray();
    await keys.deleteMany({});
    // A process caches a tenant's keys for a second.
    if (collection === 'tenant_keys') await expect.poll(() => service.vault.keys.tenantKeys(tenantId)).toBeNull();
    const stream = collection === 'tenant_keys' ? tenantStream(tenantId) : tokenStream(names, 'kept');
    service.reportError(new KeyLost(stream, 'key_missing'));
    await expect.poll(reasons).toEqual(['token keys are lost']);
    await wait(1_500);
    expect(await reasons()).toEqual(['token keys are lost']);
    await keys.insertMany(stored);
    await expect.poll(reasons).toEqual([]);
  },
);

test('doctor makes its other checks even if a value in MongoDB has the wrong type', async () => {
  const { service, db } = await vaultOnMongo();
  const positions = db.collection<{ _id: string; position: unknown }>('daily_positions');
  await positions.updateOne({ _id: 'log' }, { $set: { position: 'many' } }, { upsert: true });
  const { findings } = await operate(service, 'diagnose', { fix: false });
  expect(findings.filter(({ state }) => state === 'problem')).toEqual([
    expect.objectContaining({ check: 'unexpected', says: expect.stringMatching(/unexpected error: SyntaxError at /) }),
  ]);
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['stores', 'log', 'lost keys', 'webhooks']),
  );
});

/** What an operator can lose, and how it is lost. */
const losses = [
  ['drop', 'directory', 'MongoDB lacks 2 indexes: directory.keys, directory.order: run `strongroom init`, …'],
  [
    'empty',
    'directory',
    'MongoDB lacks rows of tenants or applications: run `strongroom projections rebuild directory`',
  ],
  ['drop', 'token_rows_1', 'MongoDB lacks 8 indexes: token_rows_1.terms, …: run `strongroom init`, …'],
] as const;

test.each(losses)(
  'if a process runs while an operator loses (%s) the collection %s, live keys and tokens get 503, and not 401 or 404',
  async (how, collection, reason) => {
    const { service, reopen, db, key, reasons } = await vaultOnMongo();
    await operate(service, 'tokens-create', { key, request: { id: 'kept', type: 'token', data: 'x' } });
    const caller = await service.authenticate(key);
    if (caller === null) throw new Error('the key must be valid');
    const { names } = (await service.vault.keys.tenantKeys(caller.tenantId)) ?? {};
    if (names === undefined) throw new Error('the tenant has keys');
    const stream = tokenStream(names, 'kept');
    const find = () => service.vault.rows.get(stream);
    expect(await find()).not.toBeNull();
    expect(await service.vault.rows.get(tokenStream(names, 'unknown'))).toBeNull();
    expect(await service.vault.directory.byKeyHash('unknown')).toBeNull();
    expect(await reasons()).toEqual([]);

    await (how === 'drop' ? db.dropCollection(collection) : db.collection(collection).deleteMany({}));
    const lost = { store: 'mongodb', reason: 'rows_missing' };
    const outcomeIn =
      ({ vault }: typeof service | Awaited<ReturnType<typeof reopen>>) =>
      async () => {
        const looks = collection === 'directory' ? vault.directory.byKeyHash(apiKeyHash(key)) : vault.rows.get(stream);
        return Promise.resolve(looks).catch((error: unknown) => error);
      };
    await expect.poll(outcomeIn(service)).toMatchObject(lost);
    await expect.poll(reasons).toEqual([expect.stringContaining(reason.split('…')[0] ?? '')]);
    if (how !== 'drop') return;
    // The first write creates the collection again, without its indexes.
    if (collection === 'token_rows_1') {
      await operate(service, 'tokens-create', { key, request: { id: 'newer', type: 'token', data: 'x' } });
      expect(await outcomeIn(service)()).toMatchObject(lost);
      return;
    }
    // `strongroom init` creates the indexes. The rows stay lost.
    await db.collection(collection).createIndexes([...directoryIndexes.indexes]);
    await expect.poll(reasons).toEqual([losses[1][2]]);
    expect(await outcomeIn(service)()).toMatchObject(lost);
    expect(await outcomeIn(await reopen())()).toMatchObject(lost);
  },
);
