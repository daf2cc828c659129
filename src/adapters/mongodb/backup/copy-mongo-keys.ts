import { BSON, type Db, type Document } from 'mongodb';
import { BackupRefused, type KeysToCopy } from '../../../ports/backup.js';
import { rotationRefused } from '../../shared/rotation-refused.js';
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
  let copiedUnder: Buffer | null = null;

  /**
   * Throws BackupRefused if a rotation or a restore is running or has run since `lines` began. Threat: a rotation or
   * restore changes the keys during the backup. A backup that contains only some of the keys, keys under two different
   * root keys, or keys under a root key whose copies are destroyed, cannot be restored.
   */
  async function refuseRotation(): Promise<void> {
    if (((await metaValue(connection, restoringMark)) ?? restored) !== restored)
      throw new BackupRefused('the keys are being restored. Finish that first.');
    if ((await metaValue(connection, 'rotation')) === 'begun') throw rotationRefused('running');
    const check = await storedRootCheck(connection);
    if (check === null || copiedUnder?.equals(check) !== true) throw rotationRefused('complete');
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
      copiedUnder = await storedRootCheck(connection);
      await refuseRotation();
      const names = await call(keyCollectionNames);
      // Writes the data keys before the keys that wrap them, so that the backup contains the wrapping key of every data
      // key.
      for (const table of names.toSorted((a, b) => Number(b === 'data_keys') - Number(a === 'data_keys'))) {
        for await (const row of documents(table, {})) {
          yield `${BSON.EJSON.stringify({ table, row: withBinaries(row) }, { relaxed: false })}\n`;
        }
      }
      await refuseRotation();
    },
    expectNotRotated: refuseRotation,
    async *erased() {
      const ended = { destroyed_at: { $ne: null } };
      for await (const { _id } of documents('data_keys', ended)) yield uuidText(_id as Buffer);
      // The living tenants are read first. If a tenant is deleted while the list is written, its wrapping keys are not in
      // the list unless its identity key is.
      const living = new Set<unknown>();
      const identity = { purpose: 'identity', destroyed_at: null };
      for await (const { tenant } of documents('tenant_keys', identity)) living.add(tenant);
      for await (const { _id, purpose, tenant } of documents('tenant_keys', ended)) {
        if (purpose !== 'wrapping' || !living.has(tenant)) yield String(_id);
      }
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
