import { BSON, type Document } from 'mongodb';
import { BackupRefused, type ErasedKeys } from '../../../ports/backup.js';
import { noEvent } from '../../../ports/key-ring.js';
import { connectMongo, type MongoConnection } from '../connection.js';
import { uuidBytes, uuidText } from '../uuid.js';

const rowsAtOnce = 1_000;
/** How far readers of the log came: from the start again, because the log may be another copy. */
const readers = new Set(['shredder', 'orphans', 'anchor']);

/** Writes the lines of a backup into an empty key store. A key that was erased since is destroyed before it is written. */
export async function writeMongoKeys(
  url: string,
  databaseName: string,
  lines: AsyncIterable<string>,
  erased: ErasedKeys,
): Promise<void> {
  const connection = await connectMongo(url, databaseName);
  try {
    await expectEmpty(connection);
    const waiting = new Map<string, Document[]>();
    const flush = async (table: string, rows: readonly Document[]): Promise<void> => {
      await connection.call((db) => db.collection(table).insertMany([...rows]));
      waiting.delete(table);
    };
    for await (const line of lines) {
      const { table, row } = decode(line);
      if (table === 'meta' && readers.has(String(row['_id']))) continue;
      const rows = [...(waiting.get(table) ?? []), withoutErased(row, erased)];
      waiting.set(table, rows);
      if (rows.length >= rowsAtOnce) await flush(table, rows);
    }
    for (const [table, rows] of waiting) await flush(table, rows);
  } finally {
    await connection.close();
  }
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
