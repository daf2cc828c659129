import { Binary, type Db, Decimal128, Long } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureIndexes } from '#src/adapters/mongodb/required-indexes.js';
import { mongoRowWriter } from '#src/adapters/mongodb/token-rows/row-writer.js';
import { mongoTokenRows } from '#src/adapters/mongodb/token-rows/token-rows.js';
import { tokenRowsCollection, tokenRowsIndexes } from '#src/adapters/mongodb/token-rows/token-rows-indexes.js';
import type { TokenRows } from '#src/ports/token-rows.js';
import type { Stored } from '#src/views/row-mac.js';
import type { TokenView } from '#src/views/token-view.js';
import { aHash, atNoon, noTokenYet, tokenCreated, tokenDeleted, tokenUpdated } from '../../contract/support.js';
import { type MongoDatabase, mongoDatabase } from '../own-database.js';
import { after } from './a-row.js';

let database: MongoDatabase;
let writer: ReturnType<typeof mongoRowWriter>;
let rows: TokenRows;

beforeAll(async () => {
  database = await mongoDatabase();
  await ensureIndexes(database.connection.db, [tokenRowsIndexes(1)]);
  writer = mongoRowWriter(database.connection, 1);
  rows = mongoTokenRows(database.connection, 1);
});

afterAll(() => database.drop());

type View = Stored<TokenView>;

const anIndex = () => ({ fingerprintHash: aHash(), terms: { 1: [aHash().slice(0, 32)] } });
const stored = async ({ stream }: TokenView) => (await rows.get(stream))?.state.revision ?? null;
const raw = ({ stream: _id }: TokenView) =>
  database.connection.db.collection<{ _id: string }>(tokenRowsCollection(1)).findOne({ _id });

test('an older write does not replace a row that is as new or newer, and is reported as stale', async () => {
  const [first, index] = [after(noTokenYet(), tokenCreated()), anIndex()];
  const second = after(first, tokenUpdated());
  expect(await writer.write(second, index, 0, atNoon)).toBe('written');
  expect(await writer.write(first, anIndex(), -1, atNoon)).toBe('stale');
  expect(await writer.write(second, anIndex(), 0, atNoon)).toBe('stale');
  expect(await stored(first)).toBe(1);
  expect(await rows.findByFingerprint('tenant', index.fingerprintHash, atNoon, 9)).toEqual([first.stream]);
});

test('an update that keeps the terms requires exactly the row’s previous revision', async () => {
  const [first, index] = [after(noTokenYet(), tokenCreated()), anIndex()];
  const second = after(first, tokenUpdated());
  const third = after(second, tokenUpdated());
  expect(await writer.write(second, 'keep', 0, atNoon)).toBe('gap');
  expect(await stored(first)).toBeNull();
  await writer.write(first, index, -1, atNoon);
  expect(await writer.write(third, 'keep', 1, atNoon)).toBe('gap');
  expect(await stored(first)).toBe(0);
  expect(await writer.write(second, 'keep', 0, atNoon)).toBe('written');
  expect(await writer.write(third, 'keep', 1, atNoon)).toBe('written');
  expect(await writer.write(second, 'keep', 0, atNoon)).toBe('stale');
  expect(await rows.findByFingerprint('tenant', index.fingerprintHash, atNoon, 9)).toEqual([first.stream]);
});

/** Threat: an attacker removes or replaces the revision of a row, and the runner stops at it for all tenants. */
test.each([
  ['missing', undefined],
  ['null', null],
  ['text', 'x'],
  ['an object', { 0: 9 }],
  ['a list', [5, 9]],
  ['a decimal', Decimal128.fromString('9')],
  ['too large', Long.MAX_VALUE],
  ['not a number', Number.NaN],
])('a complete row overwrites a row whose revision is %s', async (_, revision) => {
  const first = after(noTokenYet(), tokenCreated());
  const second = after(first, tokenUpdated());
  const collection = database.connection.db.collection<{ _id: string }>(tokenRowsCollection(1));
  for (const write of [
    () => writer.write(second, anIndex(), 0, atNoon),
    async () => expect(await writer.writeMany([{ view: second, index: anIndex(), before: 0, at: atNoon }])).toEqual([]),
  ]) {
    await writer.write(first, anIndex(), -1, atNoon);
    const change = revision === undefined ? { $unset: 'revision' } : { $set: { revision: { $literal: revision } } };
    await collection.updateOne({ _id: first.stream }, [change]);
    expect(await writer.revisionsOf([first.stream])).toEqual(new Map([[first.stream, -1]]));
    expect(await writer.write(second, 'keep', 0, atNoon)).toBe('gap');
    await write();
    expect(await stored(second)).toBe(1);
    await collection.deleteOne({ _id: first.stream });
  }
});

test('a removal leaves a tombstone without terms or content, even if there was no row before', async () => {
  const first = after(noTokenYet(), tokenCreated({ expiresAt: atNoon + 5, cvcPurgeAt: atNoon + 5 }));
  const gone = after(first, tokenDeleted());
  expect(await writer.write(gone, 'keep', 0, atNoon)).toBe('written');
  expect(await writer.write(first, anIndex(), -1, atNoon)).toBe('stale');
  const tombstone = { _id: gone.stream, tenant: 'tenant', revision: 1, life: null, removed_at: atNoon, mac: gone.mac };
  expect(await raw(gone)).toEqual(tombstone);
  const other = after(noTokenYet(), tokenCreated({ expiresAt: atNoon + 5, cvcPurgeAt: atNoon + 5 }));
  await writer.write(other, anIndex(), -1, atNoon);
  const ended = after(other, tokenDeleted());
  await writer.write(ended, 'keep', 0, atNoon);
  expect(await raw(ended)).toEqual({ ...tombstone, _id: ended.stream, mac: ended.mac });
  const again = after(ended, tokenCreated());
  expect(await writer.write(again, anIndex(), 1, atNoon)).toBe('written');
  expect(await raw(again)).toMatchObject({ revision: 2, life: again.state.life });
  expect(await raw(again)).not.toHaveProperty('removed_at');
});

test('an update that keeps the terms removes times and ciphertexts that the token no longer has', async () => {
  const first = after(noTokenYet(), tokenCreated({ expiresAt: atNoon + 5, cvcPurgeAt: atNoon + 5 }));
  await writer.write(first, anIndex(), -1, atNoon);
  const updated = after(first, tokenUpdated());
  const purged: View = {
    ...updated,
    state: { ...updated.state, life: updated.state.life === null ? null : { ...updated.state.life, cvc: null } },
    cvc: null,
  };
  expect(await writer.write(purged, 'keep', 0, atNoon)).toBe('written');
  for (const field of ['cvc', 'cvc_purge_at', 'expires_at']) expect(await raw(purged)).not.toHaveProperty(field);
});

test('if many writers write one row concurrently, the newest revision stays, whatever the order of the writes', async () => {
  for (let round = 0; round < 20; round += 1) {
    const views = [after(noTokenYet(), tokenCreated())];
    for (let i = 1; i < 8; i += 1) views.push(after(views[i - 1] as TokenView, tokenUpdated()));
    const shuffled = [...views].sort(() => Math.random() - 0.5);
    const outcomes = await Promise.all(
      shuffled.map((view) => writer.write(view, anIndex(), view.state.revision - 1, atNoon)),
    );
    expect(await stored(views[0] as TokenView)).toBe(7);
    expect(outcomes[shuffled.findIndex(({ state }) => state.revision === 7)]).toBe('written');
  }
});

test('a batch writes the rows that are newer, leaves all others unchanged, and names the gaps', async () => {
  const created = Array.from({ length: 6 }, () => after(noTokenYet(), tokenCreated()));
  const [fresh, older, newer, kept, gap, removed] = created as [...[View, View, View, View, View, View]];
  const write = (view: View, index: 'keep' | ReturnType<typeof anIndex> = anIndex()) => ({
    view,
    index,
    before: view.state.revision - 1,
    at: atNoon,
  });
  await writer.writeMany([write(older), write(after(newer, tokenUpdated())), write(kept)]);
  const batch = [
    write(fresh),
    write(after(older, tokenUpdated())),
    write(newer),
    write(after(kept, tokenUpdated()), 'keep'),
    write(after(gap, tokenUpdated()), 'keep'),
    write(after(removed, tokenDeleted()), 'keep'),
  ];
  for (let repeat = 0; repeat < 2; repeat += 1) {
    expect(await writer.writeMany(batch)).toEqual([gap.stream]);
    const revisions = await writer.revisionsOf([...created.map(({ stream }) => stream), 'token-unknown']);
    expect(created.map(({ stream }) => revisions.get(stream) ?? null)).toEqual([0, 1, 1, 1, null, 1]);
    expect(revisions.size).toBe(5);
  }
  expect(await writer.writeMany([])).toEqual([]);
});

test('old tombstones are removed; young ones and live rows stay', async () => {
  const views = Array.from({ length: 3 }, () => after(noTokenYet(), tokenCreated(), tokenDeleted()));
  const [old, young, again] = views as [View, View, View];
  await writer.write(old, 'keep', 0, atNoon - 10);
  await writer.write(young, 'keep', 0, atNoon - 9);
  await writer.write(again, 'keep', 0, atNoon - 10);
  await writer.write(after(again, tokenCreated()), anIndex(), 1, atNoon);
  expect(await writer.forgetTombstones(atNoon - 9)).toBe(1);
  expect(await Promise.all(views.map(stored))).toEqual([null, 1, 2]);
});

test('a planted tombstone that cannot be removed does not keep the removal of others from ending', async () => {
  const planted = { _id: new Binary(Buffer.alloc(16), 0x80), removed_at: atNoon - 10 };
  const collection = database.connection.db.collection<{ _id: Binary | string }>(tokenRowsCollection(1));
  await collection.insertOne(planted);
  const old = after(noTokenYet(), tokenCreated(), tokenDeleted());
  await writer.write(old, 'keep', 0, atNoon - 10);
  expect(await writer.forgetTombstones(atNoon - 9)).toBe(1);
  await collection.deleteOne({ _id: planted._id });
});

test('the row of a token that is created again while old tombstones are removed stays', async () => {
  const removed = after(noTokenYet(), tokenCreated(), tokenDeleted());
  await writer.write(removed, 'keep', 0, atNoon - 10);
  const { connection } = database;
  /** Returns a collection that creates the token again between the search for tombstones and their removal. */
  const creating = (db: Db, name: string) => {
    const collection = db.collection(name);
    const deleteMany: typeof collection.deleteMany = async (...given) => {
      await writer.write(after(removed, tokenCreated()), anIndex(), 1, atNoon);
      return collection.deleteMany(...given);
    };
    return { find: collection.find.bind(collection), deleteMany };
  };
  const call = <T>(work: (db: Db) => Promise<T>) =>
    connection.call((db) => work({ collection: (name: string) => creating(db, name) } as Db));
  expect(await mongoRowWriter({ ...connection, call }, 1).forgetTombstones(atNoon - 9)).toBe(0);
  expect(await stored(removed)).toBe(2);
});
