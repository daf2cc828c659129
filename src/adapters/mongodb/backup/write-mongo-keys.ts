import { randomUUID } from 'node:crypto';
import { BSON, type Document } from 'mongodb';
import { BackupRefused, type ErasedKeys } from '../../../ports/backup.js';
import { type KeyRingReader, noEvent } from '../../../ports/key-ring.js';
import { connectMongo, type MongoConnection } from '../connection.js';
import { keyCollections, restoringMark } from '../key-ring/key-collections.js';
import { uuidBytes, uuidText } from '../uuid.js';

const rowsAtOnce = 1_000;
/** How far readers of the log came: from the start again, because the log may be another copy. */
const readers = new Set<unknown>(['shredder', 'orphans', 'anchor', 'log'] satisfies KeyRingReader[]);

/**
 * Writes the lines of a backup into an empty key store, or one in which that was cut off. A key that was erased since is
 * destroyed before it is written. Until all are there the store is refused; afterwards its log counts as one that is behind, until
 * `acceptLog`.
 */
export async function writeMongoKeys(
  url: string,
  databaseName: string,
  lines: AsyncIterable<string>,
  erased: ErasedKeys,
): Promise<void> {
  const connection = await connectMongo(url, databaseName);
  try {
    const attempt = randomUUID();
    await begin(connection, attempt);
    const waiting = new Map<string, Document[]>();
    const flush = async (table: string, rows: readonly Document[]): Promise<void> => {
      await connection.call((db) => db.collection(table).insertMany([...rows]));
      waiting.delete(table);
    };
    for await (const line of lines) {
      const { table, row } = decode(line);
      if (table === 'meta' && readers.has(row['_id'])) continue;
      const rows = [...(waiting.get(table) ?? []), withoutErased(row, erased)];
      waiting.set(table, rows);
      if (rows.length >= rowsAtOnce) await flush(table, rows);
    }
    for (const [table, rows] of waiting) await flush(table, rows);
    await end(connection, attempt);
  } finally {
    await connection.close();
  }
}

/** Marks the store as one that is not whole. What was cut off is begun anew. */
async function begin(connection: MongoConnection, attempt: string): Promise<void> {
  const mark = { _id: restoringMark, value: attempt };
  const cutOff = await connection.call((db) =>
    keyCollections.meta(db).findOneAndUpdate({ _id: restoringMark }, { $set: { value: attempt } }),
  );
  if (cutOff === null) {
    await expectEmpty(connection);
    await connection.call((db) => keyCollections.meta(db).insertOne(mark));
    return;
  }
  for (const { name } of await connection.call((db) => db.listCollections({}, { nameOnly: true }).toArray())) {
    if (name.startsWith('system.') || name === 'meta') continue;
    await connection.call((db) => db.dropCollection(name));
  }
  await connection.call((db) => keyCollections.meta(db).deleteMany({ _id: { $ne: restoringMark } }));
}

async function end({ call }: MongoConnection, attempt: string): Promise<void> {
  const seen = { _id: 'log' satisfies KeyRingReader, value: Number.MAX_SAFE_INTEGER };
  await call((db) => keyCollections.meta(db).insertOne(seen));
  const { deletedCount } = await call((db) =>
    keyCollections.meta(db).deleteOne({ _id: restoringMark, value: attempt }),
  );
  if (deletedCount === 0) throw new BackupRefused('somebody else restores these keys at the same time. Try again.');
}

async function expectEmpty({ call }: MongoConnection): Promise<void> {
  for (const { name } of await call((db) => db.listCollections({}, { nameOnly: true }).toArray())) {
    if ((await call((db) => db.collection(name).findOne({}))) === null) continue;
    throw new BackupRefused('the key store holds keys already; nothing was changed. Name another one, or empty it.');
  }
}

function decode(line: string): { readonly table: string; readonly row: Document } {
  try {
    return BSON.EJSON.parse(line) as { table: string; row: Document };
  } catch {
    throw new BackupRefused('the keys in this backup are not documents of a key store.');
  }
}

function withoutErased(row: Document, { ids, madeAt }: ErasedKeys): Document {
  const { _id: id, wrapped, destroyed_at } = row;
  const keyId = typeof id === 'string' ? id : isBinary(id) ? uuidText(Buffer.from(id.buffer)) : '';
  if (wrapped == null || destroyed_at !== null || !ids.has(keyId)) return row;
  return { ...row, destroyed_at: madeAt, destroyed_by: uuidBytes(noEvent), wrapped: null };
}

function isBinary(value: unknown): value is BSON.Binary {
  return value instanceof BSON.Binary;
}
