import { randomBytes, randomUUID } from 'node:crypto';
import { MongoClient, Timestamp } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import type { MongoConnection } from '#src/adapters/mongodb/connection.js';
import { keyCollections, keyIndexes } from '#src/adapters/mongodb/key-store/key-collections.js';
import { mongoKeyStore } from '#src/adapters/mongodb/key-store/mongo-key-store.js';
import { checkIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { openMongoKeys } from '#src/compose/cluster/open-mongo-keys.js';
import { rotateKeys } from '#src/jobs/rotate-keys.js';
import type { KeyRing } from '#src/keys/key-ring.js';
import { StoreUnavailable } from '#src/ports/store-unavailable.js';
import { manualClock } from '../support/manual-clock.js';
import { until } from '../support/process.js';
import { databaseOfTest, mongoUrl } from './own-database.js';

/** Opens one key store twice, as two processes would. Each opened store has a separate connection, cache and pool. */
async function twoRings() {
  const { connect } = await databaseOfTest();
  const rootKey = randomBytes(32);
  const clock = manualClock();
  const open = async () => {
    const connection = await connect();
    const store = await openMongoKeys(connection, rootKey, clock, async () => 0);
    onTestFinished(() => store.keys.close());
    return { ...store, connection };
  };
  const one = await open();
  const other = await open();
  const tenantId = randomUUID();
  await one.keys.createTenant(tenantId);
  return { one, other, tenantId, rootKey, clock, connect, open };
}

async function opened(keys: KeyRing, tenantId: string, keyId: string): Promise<string> {
  const used = await keys.use(tenantId, keyId, (key) => key.toString('hex'));
  return used.state === 'open' ? used.value : used.state;
}

/** Raises the wrap count of the tenant's newest wrapping key to its limit. */
async function exhaust({ db }: MongoConnection, tenantId: string): Promise<void> {
  const newest = await keyCollections
    .tenantKeys(db)
    .find({ tenant: tenantId, purpose: 'wrapping' })
    .sort({ number: -1 })
    .limit(1)
    .next();
  await keyCollections
    .wraps(db)
    .updateOne({ _id: String(newest?._id) }, { $set: { count: 2 ** 30 } }, { upsert: true });
}

test('a key that one process created can be opened by the other, and a destroyed key is destroyed for both', async () => {
  const { one, other, tenantId } = await twoRings();
  const [first, second] = [await one.keys.create(tenantId), await one.keys.create(tenantId)];
  expect(await opened(other.keys, tenantId, first.id)).toBe(first.key.toString('hex'));
  expect(await other.keys.destroy([{ keyId: second.id, eventId: randomUUID() }])).toBe(1);
  expect(await one.keys.destroy([{ keyId: second.id, eventId: randomUUID() }]), 'a repeat elsewhere').toBe(0);
  expect(await opened(other.keys, tenantId, second.id)).toBe('destroyed');
});

test('if two processes destroy the same keys concurrently, each key is counted only once', async () => {
  const { one, other, tenantId } = await twoRings();
  const made = await Promise.all(Array.from({ length: 300 }, () => one.keys.create(tenantId)));
  const ended = made.map(({ id }) => ({ keyId: id, eventId: randomUUID() }));
  const counts = await Promise.all([one.keys.destroy(ended), other.keys.destroy([...ended].reverse())]);
  expect(counts[0] + counts[1]).toBe(300);
});

test('the row of a destroyed key records when and by which event the key was destroyed, and contains no part of the key', async () => {
  const { one, tenantId, clock } = await twoRings();
  const { id } = await one.keys.create(tenantId);
  const eventId = randomUUID();
  await one.keys.destroy([{ keyId: id, eventId }]);
  const rows = await keyCollections.dataKeys(one.connection.db).find({ destroyed_at: clock.now() }).toArray();
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ wrapped: null, destroyed_by: Buffer.from(eventId.replaceAll('-', ''), 'hex') });
});

test('once a tenant’s keys are destroyed, no other process uses its cached copies', async () => {
  const { one, other, tenantId } = await twoRings();
  const { id, key } = await other.keys.create(tenantId);
  expect(await opened(other.keys, tenantId, id)).toBe(key.toString('hex'));
  expect(await other.keys.searchTermKey(tenantId, 1)).not.toBeNull();
  expect(await one.keys.destroyTenant(tenantId, randomUUID())).toBe(2);
  expect(await other.keys.tenantKeys(tenantId)).toBeNull();
  expect(await other.keys.searchTermKey(tenantId, 1)).toBeNull();
  expect(await opened(other.keys, tenantId, id)).toBe('destroyed');
  await expect(other.keys.create(tenantId)).rejects.toThrow(StoreUnavailable);
});

test('if two processes create one tenant’s keys at the same time, the tenant gets one set of keys', async () => {
  const { one, other } = await twoRings();
  for (let round = 0; round < 10; round += 1) {
    const tenantId = randomUUID();
    await Promise.all([one.keys.createTenant(tenantId), other.keys.createTenant(tenantId)]);
    const names = [await one.keys.tenantKeys(tenantId), await other.keys.tenantKeys(tenantId)].map((subkeys) =>
      subkeys?.names.toString('hex'),
    );
    expect(names[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(names[1]).toBe(names[0]);
    const { id, key } = await one.keys.create(tenantId);
    expect(await opened(other.keys, tenantId, id)).toBe(key.toString('hex'));
  }
});

test('if a crash left a tenant’s keys incomplete, the next attempt completes them', async () => {
  const { one, tenantId, open } = await twoRings();
  await keyCollections.tenantKeys(one.connection.db).deleteOne({ tenant: tenantId, purpose: 'identity' });
  const { keys } = await open();
  expect(await keys.tenantKeys(tenantId)).toBeNull();
  await keys.createTenant(tenantId);
  expect(await keys.tenantKeys(tenantId)).not.toBeNull();
  const { id, key } = await keys.create(tenantId);
  expect(await opened(keys, tenantId, id)).toBe(key.toString('hex'));
});

test('at 2^30 wraps, two processes switch to the same newer key, and keys wrapped under the older one can still be opened', async () => {
  const { one, other, tenantId } = await twoRings();
  const old = await one.keys.create(tenantId);
  await other.keys.create(tenantId);
  for (const number of [2, 3]) {
    await exhaust(one.connection, tenantId);
    // Creates more keys than remain in the pools of the two processes, so each process needs a new block of keys.
    const made = await Promise.all(
      Array.from({ length: 600 }, (_, index) => (index % 2 === 0 ? one : other).keys.create(tenantId)),
    );
    const wrapping = keyCollections.tenantKeys(one.connection.db).find({ tenant: tenantId, purpose: 'wrapping' });
    const numbers = (await wrapping.toArray()).map((row) => row.number);
    expect(numbers.sort()).toEqual(Array.from({ length: number }, (_, index) => index + 1));
    for (const { id, key } of [old, ...made]) {
      for (const { keys } of [one, other]) expect(await opened(keys, tenantId, id)).toBe(key.toString('hex'));
    }
  }
  const newest = await keyCollections.tenantKeys(one.connection.db).findOne({ tenant: tenantId, number: 3 });
  const counted = await keyCollections.wraps(one.connection.db).findOne({ _id: String(newest?._id) });
  const wrapped = await keyCollections.dataKeys(one.connection.db).countDocuments({ tenant_key: String(newest?._id) });
  expect(wrapped).toBeGreaterThan(0);
  expect(counted?.count, 'counted before use').toBeGreaterThanOrEqual(wrapped);
});

test('a key that is added while its tenant is destroyed cannot be used', async () => {
  const { one, other, tenantId } = await twoRings();
  await other.keys.create(tenantId);
  await exhaust(one.connection, tenantId);
  await Promise.allSettled([
    one.keys.destroyTenant(tenantId, randomUUID()),
    ...Array.from({ length: 400 }, () => other.keys.create(tenantId)),
  ]);
  for (const { keys } of [one, other]) {
    expect(await keys.tenantKeys(tenantId)).toBeNull();
    await expect(keys.create(tenantId)).rejects.toThrow(StoreUnavailable);
  }
  const rows = await keyCollections.dataKeys(one.connection.db).find({}).project({ _id: 1 }).toArray();
  expect(rows.length).toBeGreaterThan(0);
  await one.keys.destroyTenant(tenantId, randomUUID());
  const living = keyCollections.tenantKeys(one.connection.db).countDocuments({ tenant: tenantId, destroyed_at: null });
  expect(await living, 'the repeat takes what came late').toBe(0);
});

test('the keys of all processes are listed in creation order, and the list stops before the first key that is too young', async () => {
  const { one, other, tenantId, clock, connect } = await twoRings();
  // A key ring also creates keys in the background. While several inserts run, their keys become visible in any order.
  const connections = [await connect(), await connect()];
  const stores = connections.map((connection) => mongoKeyStore(connection, clock, async () => 0));
  const ofTenant = { tenant: tenantId, purpose: 'wrapping' } as const;
  const wrapping = await keyCollections.tenantKeys(one.connection.db).findOne(ofTenant);
  const create = async (index: number) => {
    const key = { id: randomUUID(), wrapped: randomBytes(60) };
    expect(await stores[index % 2]?.insertDataKeys(String(wrapping?._id), [key])).toBe('stored');
  };
  const made: string[] = [];
  for (let round = 0; round < 30; round += 1) {
    const before = new Set((await one.keys.made(0, clock.now() + 1, 10_000)).map(({ keyId }) => keyId));
    await Promise.all(Array.from({ length: 20 }, (_, index) => create(index)));
    const all = (await other.keys.made(0, clock.now() + 1, 10_000)).map(({ keyId }) => keyId);
    expect(new Set(all.slice(0, before.size))).toEqual(before);
    made.push(...all);
  }
  expect(new Set(made).size).toBe(600);
  clock.advance(-10_000);
  await one.keys.createTenant('late');
  await one.keys.create('late');
  const late = (await one.keys.made(0, clock.now() + 10_001, 10_000)).length;
  clock.advance(10_000);
  expect(await one.keys.made(0, clock.now(), 10_000), 'the first of all is too young').toEqual([]);
  expect(late).toBeGreaterThan(new Set(made).size);
});

test('a wrong root key is rejected, and two new processes agree on one log', async () => {
  const { one, other, connect, clock } = await twoRings();
  const connection = await connect();
  const refused = openMongoKeys(connection, randomBytes(32), clock, async () => 0);
  await expect(refused).rejects.toThrow('this root key does not open the key store');
  expect(await one.logIdOfKeys()).toBeNull();
  const [first, second] = await Promise.all([one.bindKeysToLog(randomUUID()), other.bindKeysToLog(randomUUID())]);
  expect(second).toBe(first);
  expect(await other.logIdOfKeys()).toBe(first);
  expect(await one.bindKeysToLog(randomUUID()), 'bound for good').toBe(first);
});

test('if a new store is opened with two root keys at the same time, one of them is rejected', async () => {
  const { connect } = await databaseOfTest();
  const [a, b] = [await connect(), await connect()];
  const clock = manualClock();
  const opening = [a, b].map((connection) => openMongoKeys(connection, randomBytes(32), clock, async () => 0));
  const settled = await Promise.allSettled(opening);
  expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  for (const opened of settled) if (opened.status === 'fulfilled') await opened.value.keys.close();
  expect(await checkIndexes(a.db, keyIndexes)).toEqual([]);
});

test('if the result of a read arrives after the key was destroyed, the key does not stay open', async () => {
  const { one, tenantId, connect, rootKey, clock } = await twoRings();
  const { id, key } = await one.keys.create(tenantId);
  const connection = await connect();
  let isSlow = false;
  let hasAnswered = false;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: MongoConnection = {
    ...connection,
    async call(work) {
      const isHeld = isSlow;
      isSlow = false;
      const answer = await connection.call(work);
      if (isHeld) {
        hasAnswered = true;
        await held;
      }
      return answer;
    },
  };
  const { keys } = await openMongoKeys(slow, rootKey, clock, async () => 0);
  onTestFinished(() => keys.close());
  await keys.tenantKeys(tenantId);
  isSlow = true;
  const reading = opened(keys, tenantId, id);
  await until('the answer', 30_000, () => (hasAnswered ? true : undefined));
  expect(await keys.destroy([{ keyId: id, eventId: randomUUID() }])).toBe(1);
  release();
  expect(await reading, 'it was read before').toBe(key.toString('hex'));
  expect(await opened(keys, tenantId, id)).toBe('destroyed');
});

test('the recorded end of the log never moves back, even if a process reads an older end when it creates keys', async () => {
  const { connect } = await databaseOfTest();
  let head = 7;
  const store = mongoKeyStore(await connect(), manualClock(), async () => head);
  const create = () => store.insertDataKeys(randomUUID(), [{ id: randomUUID(), wrapped: randomBytes(60) }]);
  const recorded = () => store.records.checkpoint('log');
  await create();
  expect(await recorded()).toBe(7);
  head = 3;
  await create();
  expect(await recorded()).toBe(7);
  await store.records.rememberLog({ checkpoint: null, link: { position: 5, count: 1, hash: randomBytes(32) } });
  expect(await recorded()).toBe(7);
});

test('a rotation that resumes late changes neither a key that another one rewrapped nor a key that was destroyed', async () => {
  const { connect } = await databaseOfTest();
  const store = mongoKeyStore(await connect(), manualClock(), async () => 0);
  const tenant = randomUUID();
  const wrapping = (number: number) => ({
    id: `${tenant}-${number}`,
    tenant,
    purpose: 'wrapping' as const,
    number,
    wrapped: randomBytes(60),
  });
  const check = await store.createRootCheck(randomBytes(32));
  const [old, next] = [wrapping(1), wrapping(2)];
  expect(await store.insertTenantKeys([old, next], check)).toBe('stored');
  const keys = Array.from({ length: 2 }, () => ({ id: randomUUID(), wrapped: randomBytes(60) }));
  const [rewrapped, destroyed] = keys.map(({ id }) => id) as [string, string];
  expect(await store.insertDataKeys(old.id, keys)).toBe('stored');
  const wrapped = randomBytes(60);
  await store.rotation.rewrapDataKeys([{ id: rewrapped, from: old.id, to: next.id, wrapped }]);
  await store.destroyDataKeys([{ keyId: destroyed, eventId: randomUUID() }], []);
  const late = keys.map(({ id }) => ({ id, from: old.id, to: old.id, wrapped: randomBytes(60) }));
  await store.rotation.rewrapDataKeys(late);
  expect(await store.dataKey(rewrapped)).toMatchObject({ tenantKeyId: next.id, wrapped });
  expect(await store.dataKey(destroyed)).toMatchObject({ wrapped: null });
});

test('a rotation destroys no key that another process marked after the rotation had looked for data keys', async () => {
  const { one, tenantId, connect, rootKey, clock } = await twoRings();
  const { id, key } = await one.keys.create(tenantId);
  const connection = await connect();
  let isLate = false;
  const observed: MongoConnection = {
    ...connection,
    async call(work) {
      const result = await connection.call(work);
      // The last page of data keys is empty. A process that was suspended in `begin` marks all keys after this page.
      if (isLate && Array.isArray(result) && result.length === 0) {
        isLate = false;
        const living = { purpose: 'wrapping' as const, destroyed_at: null };
        await keyCollections.tenantKeys(connection.db).updateMany(living, { $set: { retiring: true } });
      }
      return result;
    },
  };
  const { keys } = await openMongoKeys(observed, rootKey, clock, async () => 0);
  onTestFinished(() => keys.close());
  const check = await keys.rotation.rootCheck();
  const rewrapAll = async () => {
    await keys.rotation.begin(await keys.rotation.rootCheck());
    for (let step = await keys.rotation.rewrap(0); step !== null; ) step = await keys.rotation.rewrap(step.sequence);
  };
  await rewrapAll();
  isLate = true;
  const next = randomBytes(32);
  expect(await keys.rotation.replaceRoot(next, check)).toBe(false);
  expect(isLate, 'the keys were marked').toBe(false);
  expect(await opened(one.keys, tenantId, id)).toBe(key.toString('hex'));
  await rewrapAll();
  expect(await keys.rotation.replaceRoot(next, check)).toBe(true);
  expect(await opened(keys, tenantId, id)).toBe(key.toString('hex'));
});

test('a rotation that is suspended as it begins does not keep the next rotation from replacing newer keys', async () => {
  const { one, connect, rootKey, clock } = await twoRings();
  const connection = await connect();
  let meanwhile: (() => Promise<unknown>) | null = null;
  const observed: MongoConnection = {
    ...connection,
    async call(work) {
      const result = await connection.call(work);
      const run = meanwhile;
      meanwhile = null;
      await run?.();
      return result;
    },
  };
  const { keys } = await openMongoKeys(observed, rootKey, clock, async () => 0);
  onTestFinished(() => keys.close());
  const check = await keys.rotation.rootCheck();
  meanwhile = () => rotateKeys(one.keys.rotation, randomBytes(32));
  await keys.rotation.begin(check).catch(() => undefined);
  expect(meanwhile, 'another rotation has completed').toBeNull();

  const tenant = randomUUID();
  await one.keys.createTenant(tenant);
  await rotateKeys(one.keys.rotation, randomBytes(32));
  const ofTenant = { tenant, purpose: 'wrapping', number: 1 } as const;
  const wrapping = await keyCollections.tenantKeys(one.connection.db).findOne(ofTenant);
  expect(wrapping?.wrapped).toBeNull();
});

test('a process that saves the clock late does not lower how far codes are ahead', async () => {
  const { one, other, clock } = await twoRings();
  const record = (codesAhead: number) => ({ newest: clock.now() + codesAhead, codesAhead, hold: null });
  await one.clockRecords.save(record(5));
  const loaded = await one.clockRecords.load();
  await other.clockRecords.save(record(7));
  await one.clockRecords.save(record(loaded?.codesAhead ?? 0));
  expect(await other.clockRecords.load()).toEqual({ ...record(5), codesAhead: 7 });
});

/** Inserts data keys that wrap nothing. The first two of them are destroyed. */
async function insertKeys({ db }: MongoConnection, count: number): Promise<void> {
  const documents = Array.from({ length: count }, (_, at) => ({
    _id: randomBytes(16),
    // The server replaces this placeholder with the current time.
    stamp: new Timestamp({ t: 0, i: 0 }),
    tenant_key: 'another',
    made_at: 0,
    log_head: 0,
    destroyed_at: at < 2 ? 1 : null,
    destroyed_by: null,
    revision: 1,
    wrapped: null,
  }));
  await keyCollections.dataKeys(db).insertMany(documents);
}

test('a rotation counts more keys than one query returns, and not the destroyed ones', async () => {
  const { one, connect } = await twoRings();
  const before = await one.keys.rotation.begin(await one.keys.rotation.rootCheck());
  await insertKeys(await connect(), 50_002);
  expect(await one.keys.rotation.begin(await one.keys.rotation.rootCheck())).toBe(before + 50_000);
});

test('the revisions of more keys than one command changes are forgotten', async () => {
  const { one, connect } = await twoRings();
  const connection = await connect();
  await insertKeys(connection, 20_002);
  await one.keys.forgetRevisions();
  expect(await keyCollections.dataKeys(connection.db).countDocuments({ revision: { $exists: true } })).toBe(0);
});

test('a replacement of the root key that has timed out does not use the next key after it is zeroed', async () => {
  const { one, connect, rootKey, clock } = await twoRings();
  const connection = await connect();
  const calls: Promise<unknown>[] = [];
  const observed: MongoConnection = {
    ...connection,
    call: (work) =>
      connection.call((db) => {
        const running = work(db);
        calls.push(running);
        return running;
      }),
  };
  const { keys } = await openMongoKeys(observed, rootKey, clock, async () => 0);
  onTestFinished(() => keys.close());
  await keys.rotation.begin(await keys.rotation.rootCheck());
  const check = await keys.rotation.rootCheck();

  // Another program changes the document in a transaction that stays open, so every attempt ends in a conflict.
  const other = new MongoClient(mongoUrl);
  onTestFinished(() => other.close());
  const session = other.startSession();
  session.startTransaction();
  const meta = keyCollections.meta(other.db(connection.db.databaseName));
  await meta.updateOne({ _id: 'root_check' }, { $inc: { uses: 1 } }, { session });

  const next = randomBytes(32);
  await expect(keys.rotation.replaceRoot(next, check)).rejects.toThrow(StoreUnavailable);
  next.fill(0);
  await session.abortTransaction();
  await Promise.allSettled(calls);
  expect(await one.keys.rotation.rootCheck()).toEqual(check);
});
