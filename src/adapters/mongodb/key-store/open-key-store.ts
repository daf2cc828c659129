import type { Clock } from '../../../ports/clock.js';
import {
  type ClockRecord,
  type ClockRecords,
  decodeClockRecord,
  encodeClockRecord,
} from '../../../ports/clock-record.js';
import type { KeyStore } from '../../../ports/key-store.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { inTransaction } from '../in-transaction.js';
import { ensureIndexes } from '../required-indexes.js';
import {
  keyCollections,
  keyIndexes,
  type MetaDocument,
  metaValue,
  restored,
  restoringMark,
} from './key-collections.js';
import { mongoKeyStore, once } from './mongo-key-store.js';

export type MongoKeyStore = {
  readonly store: KeyStore;
  readonly clockRecords: ClockRecords;
  /** Returns the id of the log that the keys belong to, or null if the keys are new. */
  logIdOfKeys(): Promise<string | null>;
  /**
   * Binds new keys to a log. Returns the id of the log that the keys now belong to. If another process has already
   * bound the keys, this can be the id of a different log.
   */
  bindKeysToLog(logId: string): Promise<string>;
};

/** Opens the key store, or creates it if the database is empty. The caller closes the connection. */
export async function openMongoKeyStore(
  connection: MongoConnection,
  clock: Clock,
  logHead: () => Promise<number>,
): Promise<MongoKeyStore> {
  await refuseHalf(connection);
  // Creates the collections in advance, because some servers cannot create a collection within a transaction.
  await connection.call((db) => ensureIndexes(db, keyIndexes));
  return {
    store: mongoKeyStore(connection, clock, logHead),
    clockRecords: {
      load: async () => clockRecordIn(await metaValue(connection, 'clock')),
      save: (record) =>
        inTransaction(connection, async (db, session) => {
          const meta = keyCollections.meta(db);
          const stored = clockRecordIn((await meta.findOne({ _id: 'clock' }, { session }))?.value ?? null);
          // Another process may have recorded a step of the clock since this process loaded the record.
          const codesAhead = Math.max(record.codesAhead, stored?.codesAhead ?? 0);
          const value = encodeClockRecord({ ...record, codesAhead });
          await meta.updateOne({ _id: 'clock' }, { $set: { value } }, { upsert: true, session });
        }),
    },
    async logIdOfKeys() {
      const logId = await metaValue(connection, 'log_id');
      return logId === null ? null : String(logId);
    },
    bindKeysToLog: async (logId) => String(await once(connection, { _id: 'log_id', value: logId })),
  };
}

function clockRecordIn(value: MetaDocument['value'] | null): ClockRecord | null {
  return Buffer.isBuffer(value) ? decodeClockRecord(value) : null;
}

/**
 * Throws MongoBroken if the key store was only partly restored. Threat: the vault uses an incomplete key store after a
 * failed restore, and data under the missing keys appears to be lost.
 */
async function refuseHalf({ call }: MongoConnection): Promise<void> {
  const half = { _id: restoringMark, value: { $ne: restored } };
  if ((await call((db) => keyCollections.meta(db).findOne(half))) === null) return;
  throw new MongoBroken({
    check: 'keys',
    says: 'the keys are being restored, or a restore was interrupted, and some keys are missing',
    do: 'Wait until the restore ends, or run `strongroom restore` again, which starts over',
  });
}
