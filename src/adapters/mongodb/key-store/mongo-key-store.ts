import type { Clock } from '../../../ports/clock.js';
import {
  directoryName,
  type KeyRecords,
  type KeyStatus,
  type KeyStore,
  type LogMemory,
} from '../../../ports/key-store.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { unlessDuplicate } from '../mongo-error.js';
import { uuidBytes, uuidText } from '../uuid.js';
import { mongoDataKeys, sequenceOf, stampOf } from './data-keys.js';
import { mongoGenerationKeys } from './generation-keys.js';
import {
  type DataKeyDocument,
  idPages,
  keyCollections,
  logMemories,
  type MetaDocument,
  metaValue,
  raiseMetaValue,
} from './key-collections.js';
import { storedRootCheck } from './root-check.js';
import { mongoRotationRows } from './rotation-rows.js';
import { mongoTenantKeys } from './tenant-keys.js';

/** The number of keys in one query. The ids of all keys that a token has had can exceed the size of a command. */
const statusesAtOnce = 10_000;
/** The number of revisions in one query. The names of all applications of a vault can exceed the size of a command. */
const revisionsAtOnce = 10_000;
/** The number of revisions in one command, which must end within the time limit of a call. */
const notedAtOnce = 1_000;

/**
 * Implements `KeyStore` on a separate MongoDB database that many processes share. `logHead` returns the position of the
 * newest event.
 */
export function mongoKeyStore(connection: MongoConnection, clock: Clock, logHead: () => Promise<number>): KeyStore {
  const { call } = connection;
  const { countLivingDataKeys, livingDataKeys, rewrapDataKeys, ...dataKeys } = mongoDataKeys(
    connection,
    clock,
    logHead,
  );

  return {
    name: 'key store',
    title: 'the key store',
    isShared: true,
    broken: (problem) => new MongoBroken(problem),
    rootCheck: () => storedRootCheck(connection),
    async createRootCheck(check) {
      const stored = await once(connection, { _id: 'root_check', value: check });
      if (!Buffer.isBuffer(stored)) throw new MongoBroken('the root check of the key store is damaged.');
      return stored;
    },
    ...mongoTenantKeys(connection, clock),
    ...mongoGenerationKeys(connection, clock),
    ...dataKeys,
    async forgetRevisions() {
      // Sets the revisions to -1, which has the same effect as removing the documents. The key store's database user
      // does not have the privilege to remove documents.
      await call((db) => keyCollections.directoryRevisions(db).updateMany({}, { $set: { revision: -1 } }));
      for await (const ids of idPages(connection, 'data_keys')) {
        const noted = { _id: { $in: ids }, revision: { $exists: true } };
        await call((db) =>
          db.collection<{ _id: Buffer | string }>('data_keys').updateMany(noted, { $unset: { revision: true } }),
        );
      }
    },
    rotation: mongoRotationRows(connection, clock, { countLivingDataKeys, livingDataKeys, rewrapDataKeys }),
    records: mongoKeyRecords(connection),
  };
}

function mongoKeyRecords(connection: MongoConnection): KeyRecords {
  const { call } = connection;

  return {
    async noteDirectory(revisions) {
      const updates = revisions.map((record) => ({
        updateOne: {
          filter: { _id: directoryName(record) },
          update: { $max: { revision: record.revision } },
          upsert: true,
        },
      }));
      for (let from = 0; from < updates.length; from += notedAtOnce) {
        const batch = updates.slice(from, from + notedAtOnce);
        await call((db) => keyCollections.directoryRevisions(db).bulkWrite(batch, { ordered: false }));
      }
    },
    async directoryRevisions(records) {
      const noted = new Map<string, number>();
      for (let from = 0; from < records.length; from += revisionsAtOnce) {
        const asked = { _id: { $in: records.slice(from, from + revisionsAtOnce).map(directoryName) } };
        const found = await call((db) => keyCollections.directoryRevisions(db).find(asked).toArray());
        for (const { _id, revision } of found) noted.set(_id, revision);
      }
      return noted;
    },
    /** Stops at the first key that was created at or after `madeBefore`, so that a later call finds this key. */
    async made(afterSequence, madeBefore, limit) {
      const rows = await call((db) =>
        keyCollections
          .dataKeys(db)
          .find({ destroyed_at: null, stamp: { $gt: stampOf(afterSequence) } })
          .project<Pick<DataKeyDocument, '_id' | 'stamp' | 'made_at' | 'log_head'>>({
            stamp: 1,
            made_at: 1,
            log_head: 1,
          })
          .sort({ stamp: 1 })
          .limit(limit)
          .toArray(),
      );
      const young = rows.findIndex(({ made_at }) => made_at >= madeBefore);
      return rows.slice(0, young === -1 ? rows.length : young).map(({ _id, stamp, made_at, log_head }) => ({
        sequence: sequenceOf(stamp),
        keyId: uuidText(_id),
        madeAt: made_at,
        logHead: log_head,
      }));
    },
    async keyStatuses(keyIds) {
      const statuses: KeyStatus[] = [];
      for (let start = 0; start < keyIds.length; start += statusesAtOnce) {
        const asked = { _id: { $in: keyIds.slice(start, start + statusesAtOnce).map(uuidBytes) } };
        const rows = await call((db) =>
          keyCollections.dataKeys(db).find(asked).project<DataKeyDocument>({ destroyed_at: 1 }).toArray(),
        );
        for (const { _id, destroyed_at: destroyedAt } of rows) statuses.push({ keyId: uuidText(_id), destroyedAt });
      }
      return statuses;
    },
    // MongoDB verifies a checksum of every block that it reads.
    hasDamagedId: async () => false,
    async checkpoint(name) {
      return Number((await metaValue(connection, name)) ?? 0);
    },
    async saveCheckpoint(name, value) {
      await call((db) => keyCollections.meta(db).updateOne({ _id: name }, { $set: { value } }, { upsert: true }));
    },
    async logMemory() {
      const found = await call((db) =>
        keyCollections
          .logMemory(db)
          .find({ _id: { $in: [...logMemories] } })
          .toArray(),
      );
      const checkpoint = found.find(({ _id }) => _id === 'log_checkpoint')?.checkpoint ?? null;
      const link = found.find(({ _id }) => _id === 'log_link')?.link ?? null;
      return { checkpoint, link };
    },
    rememberLog: (memory) => saveLogMemory(connection, memory),
    async replaceLogMemory(memory) {
      // Overwrites the stored documents with null values. The key store's database user does not have the privilege to
      // remove documents.
      const nothing = { $set: { checkpoint: null, link: null } };
      await call((db) => keyCollections.logMemory(db).updateMany({ _id: { $in: [...logMemories] } }, nothing));
      await saveLogMemory(connection, memory);
    },
  };
}

/**
 * Saves a checkpoint and a link, unless the stored ones are newer. `$max` compares two documents by their first field,
 * which is the number of the checkpoint or the position of the link.
 */
async function saveLogMemory(connection: MongoConnection, { checkpoint, link }: LogMemory): Promise<void> {
  const { call } = connection;
  if (checkpoint !== null) {
    const { number, hash, signature } = checkpoint;
    const newer = { $max: { checkpoint: { number, hash, signature } } };
    await call((db) => keyCollections.logMemory(db).updateOne({ _id: 'log_checkpoint' }, newer, { upsert: true }));
  }
  if (link !== null) {
    const { position, count, hash } = link;
    const newer = { $max: { link: { position, count, hash: Buffer.from(hash) } } };
    await call((db) => keyCollections.logMemory(db).updateOne({ _id: 'log_link' }, newer, { upsert: true }));
    await raiseMetaValue(connection, 'log', position);
  }
}

/** Inserts a document into `meta` if it does not exist. Returns the stored value in both cases. */
export async function once(connection: MongoConnection, meta: MetaDocument): Promise<MetaDocument['value']> {
  const stored = await metaValue(connection, meta._id);
  if (stored !== null) return stored;
  const inserted = connection.call((db) => keyCollections.meta(db).insertOne(meta));
  if (await unlessDuplicate(inserted)) return meta.value;
  const first = await metaValue(connection, meta._id);
  if (first === null) throw new Error('a document was removed from the key store');
  return first;
}
