import { BSON, type Db, type Document } from 'mongodb';
import { BackupRefused, type KeysToCopy } from '../../../ports/backup.js';
import { connectMongo } from '../connection.js';
import {
  keyCollectionNames,
  metaValue,
  raiseMetaValue,
  restored,
  restoringMark,
} from '../key-store/key-collections.js';
import { storedRootCheck } from '../key-store/root-check.js';
import { uuidText } from '../uuid.js';

const pageSize = 2_000;

/**
 * Opens the cluster's key store for a backup. The backup reads one page of documents at a time while other processes
 * use the key store.
 */
export async function openMongoKeysToCopy(url: string, databaseName: string): Promise<KeysToCopy> {
  const connection = await connectMongo(url, databaseName);
  const { call } = connection;

  /**
   * Throws BackupRefused if a rotation or a restore is running or has run since `lines` began. Threat: a rotation or
   * restore changes the keys during the backup. A backup that contains only some of the keys, or keys under two
   * different root keys, cannot be restored.
   */
  async function refuseRotation(rootCheck: Buffer | null): Promise<void> {
    const check = await storedRootCheck(connection);
    const isSame = check !== null && rootCheck?.equals(check) === true;
    if (((await metaValue(connection, restoringMark)) ?? restored) !== restored)
      throw new BackupRefused('the keys are being restored. Finish that first.');
    if ((await metaValue(connection, 'rotation')) !== 'begun' && isSame) return;
    throw new BackupRefused(
      'the keys are being rotated. Finish that (`strongroom keys rotate --all`), then try again.',
    );
  }

  async function* documents(collection: string, filter: Document): AsyncGenerator<Document> {
    for (let after: unknown = null; ; ) {
      const next = after === null ? filter : { ...filter, _id: { $gt: after } };
      const page = await call((db: Db) =>
        db.collection<Document>(collection).find(next).sort({ _id: 1 }).limit(pageSize).toArray(),
      );
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last['_id'];
    }
  }

  return {
    logId: async () => String((await metaValue(connection, 'log_id')) ?? ''),
    async *lines() {
      const rootCheck = await storedRootCheck(connection);
      await refuseRotation(rootCheck);
      const names = await call(keyCollectionNames);
      // Writes the data keys before the keys that wrap them, so that the backup contains the wrapping key of every data
      // key.
      for (const table of names.toSorted((a, b) => Number(b === 'data_keys') - Number(a === 'data_keys'))) {
        for await (const row of documents(table, {})) {
          yield `${BSON.EJSON.stringify({ table, row: withBinaries(row) }, { relaxed: false })}\n`;
        }
      }
      await refuseRotation(rootCheck);
    },
    async *erased() {
      const ended = { destroyed_at: { $ne: null } };
      for await (const { _id } of documents('data_keys', ended)) yield uuidText(_id as Buffer);
      for await (const { _id } of documents('tenant_keys', ended)) yield String(_id);
    },
    recordBackup: (madeAt) => raiseMetaValue(connection, 'backup', madeAt),
    close: () => connection.close(),
  };
}

/**
 * Converts each Buffer in a document to a Binary value. The driver returns binary data as Buffers, but Extended JSON
 * does not distinguish a Buffer from other objects.
 */
function withBinaries(row: Document): Document {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? new BSON.Binary(value) : value]),
  );
}
