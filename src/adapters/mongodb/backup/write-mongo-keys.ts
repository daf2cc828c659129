import { randomUUID } from 'node:crypto';
import { BSON, type ClientSession, type Db, type Document } from 'mongodb';
import { BackupRefused, type ErasedKeys } from '../../../ports/backup.js';
import { type KeyRingReader, noEvent } from '../../../ports/key-store.js';
import { connectMongo, type MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import {
  dataKeyIndexes,
  idPages,
  keyCollectionNames,
  keyCollections,
  logMemories,
  restored,
  restoringMark,
} from '../key-store/key-collections.js';
import { ensureIndexes } from '../required-indexes.js';
import { uuidBytes, uuidText } from '../uuid.js';

const rowsAtOnce = 1_000;
/**
 * The log readers whose positions are not restored. These readers start again at the beginning of the log, because the
 * log may be restored from a different backup than the keys.
 */
const readers = ['shredder', 'orphans', 'anchor', 'log'] satisfies KeyRingReader[];
const notRestored = new Set<unknown>([...readers, ...logMemories, restoringMark]);

/** With this log position in `meta`, the vault treats every log as older than the key store. */
const logIsOlder = { _id: 'log' satisfies KeyRingReader, value: Number.MAX_SAFE_INTEGER };

/**
 * Writes the lines of a backup into a key store. The store must be empty, or an earlier restore into it must have been
 * interrupted. A key that was erased after the backup was made is written as destroyed. The vault refuses to use the
 * store until all keys have been written. After that, the vault treats the log as older than the key store until
 * `acceptLog` is called.
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
    // The data keys can be millions. An index on them takes no time while there are none.
    await connection.call((db) => ensureIndexes(db, [dataKeyIndexes]));
    const waiting = new Map<string, Document[]>();
    const written = new Map<string, number>();
    // Replaces documents that an interrupted restore has left behind. They cannot be removed first, because the key
    // store's database user does not have the privilege to remove documents.
    const flush = async (table: string, rows: readonly Document[]): Promise<void> => {
      const writes = rows.map((row) => ({
        replaceOne: { filter: { _id: row['_id'] }, replacement: row, upsert: true },
      }));
      // A collection cannot be created in a transaction that reads from a snapshot.
      if (!written.has(table)) await connection.call((db) => db.createCollection(table)).catch(() => null);
      await unlessTakenOver(connection, attempt, async (db, session) => {
        await db.collection<Document>(table).bulkWrite(writes, { ordered: false, session });
      });
      waiting.delete(table);
      written.set(table, (written.get(table) ?? 0) + rows.length);
    };
    for await (const line of lines) {
      const { table, row } = decode(line);
      if (table === 'meta' && notRestored.has(row['_id'])) continue;
      // Skips the recorded revisions, which may be newer than the restored log. The shredder records the current
      // revisions again when it reads the log.
      if (table === 'directory_revisions') continue;
      const { revision: _, ...kept } = row;
      const rows = [...(waiting.get(table) ?? []), withoutErased(kept, erased)];
      waiting.set(table, rows);
      if (rows.length >= rowsAtOnce) await flush(table, rows);
    }
    for (const [table, rows] of waiting) await flush(table, rows);
    await end(connection, attempt, written);
  } finally {
    await connection.close();
  }
}

/**
 * Marks the store as incomplete. Throws BackupRefused if the store is not empty, unless an earlier restore was
 * interrupted before it had written all keys.
 */
async function begin(connection: MongoConnection, attempt: string): Promise<void> {
  const cutOff = await connection.call((db) =>
    keyCollections
      .meta(db)
      .findOneAndUpdate({ _id: restoringMark, value: { $ne: restored } }, { $set: { value: attempt } }),
  );
  if (cutOff !== null) return;
  await expectFinished(connection);
  await expectEmpty(connection);
  await connection.call((db) => keyCollections.meta(db).insertOne({ _id: restoringMark, value: attempt }));
}

/** Throws BackupRefused if an earlier restore has written all keys, but `acceptLog` was not called after that. */
async function expectFinished({ call }: MongoConnection): Promise<void> {
  const written = await call((db) => keyCollections.meta(db).findOne(logIsOlder));
  if (written === null) return;
  throw new BackupRefused(
    'the key store already contains keys: an earlier restore wrote all of them, but did not finish. Run ' +
      '`strongroom restore --accept-older-log` to finish it, or empty the key store.',
  );
}

async function end(connection: MongoConnection, attempt: string, written: ReadonlyMap<string, number>): Promise<void> {
  const { call } = connection;
  const { _id, value } = logIsOlder;
  await unlessTakenOver(connection, attempt, async (db, session) => {
    await keyCollections.meta(db).updateOne({ _id }, { $set: { value } }, { upsert: true, session });
  });
  // Two documents in `meta` do not come from the backup. One is the restore mark, and the other is the log position
  // that the key store has seen.
  const besides = new Map([['meta', 2]]);
  for (const name of await call(keyCollectionNames)) {
    const own = (written.get(name) ?? 0) + (besides.get(name) ?? 0);
    let found = 0;
    for await (const ids of idPages(connection, name)) found += ids.length;
    if (found === own) continue;
    throw new BackupRefused(
      'the key store contains keys from another backup that was only partly restored. Empty it first.',
    );
  }
  await unlessTakenOver(connection, attempt, async (db, session) => {
    await keyCollections.meta(db).updateOne({ _id: restoringMark }, { $set: { value: restored } }, { session });
  });
}

/**
 * Runs `write` in a transaction. Throws BackupRefused if another restore has begun since. Threat: a restore was
 * suspended, and another one with a newer list of erased keys took over. If the first restore went on writing, it would
 * bring erased keys back.
 */
async function unlessTakenOver(
  connection: MongoConnection,
  attempt: string,
  write: (db: Db, session: ClientSession) => Promise<void>,
): Promise<void> {
  await inTransaction(connection, async (db, session) => {
    const mark = { _id: restoringMark, value: attempt };
    const { matchedCount } = await keyCollections.meta(db).updateOne(mark, { $inc: { uses: 1 } }, { session });
    if (matchedCount === 0) {
      throw new BackupRefused(
        'another `strongroom restore` has taken over this key store, so this one has stopped. Let the other one finish.',
      );
    }
    await write(db, session);
  });
}

async function expectEmpty({ call }: MongoConnection): Promise<void> {
  for (const name of await call(keyCollectionNames)) {
    if ((await call((db) => db.collection(name).findOne({}))) === null) continue;
    throw new BackupRefused(
      'the key store already contains keys; nothing was changed. Choose an empty one with mongodb.keys_url and ' +
        'mongodb.database.',
    );
  }
}

function decode(line: string): { readonly table: string; readonly row: Document } {
  try {
    return BSON.EJSON.parse(line) as { table: string; row: Document };
  } catch {
    throw new BackupRefused('the keys in this backup are not documents of a key store. Use another backup.');
  }
}

function withoutErased(row: Document, { ids, madeAt }: ErasedKeys): Document {
  const { _id: id, wrapped, destroyed_at } = row;
  const keyId = typeof id === 'string' ? id : id instanceof BSON.Binary ? uuidText(Buffer.from(id.buffer)) : '';
  if (wrapped == null || destroyed_at !== null || !ids.has(keyId)) return row;
  return { ...row, destroyed_at: madeAt, destroyed_by: uuidBytes(noEvent), wrapped: null };
}
