import type { Directory } from '../../../ports/directory.js';
import type { MongoConnection } from '../connection.js';
import { countBy, readSnapshot } from '../snapshot-reading.js';
import { directoryIn, documentId, recordOf } from './directory-document.js';
import { directoryCollection, directoryIndexNames, readAllLimitMs } from './directory-indexes.js';

/** Implements `Directory` on MongoDB. The records are written by `mongoDirectoryWriter`. */
export function mongoDirectory(connection: MongoConnection): Directory {
  const { call } = connection;
  const withKey = (keyHash: string) => ({ 'keys.hash': keyHash });

  return {
    async byKeyHash(keyHash) {
      const found = await call((db) => directoryIn(db).findOne(withKey(keyHash), { hint: directoryIndexNames.keys }));
      return found === null ? null : recordOf(found);
    },
    async get(kind, id) {
      const found = await call((db) => directoryIn(db).findOne({ _id: documentId(kind, id) }));
      return found === null ? null : recordOf(found);
    },
    async list(kind) {
      const found = await call(
        (db) => directoryIn(db).find({ kind }, { hint: directoryIndexNames.order }).toArray(),
        readAllLimitMs,
      );
      return found.map(recordOf);
    },
    async applications(tenantId, { ids, types }, { offset, limit }) {
      const filter = {
        kind: 'application',
        tenant: tenantId,
        removed_at: null,
        ...(ids === null ? {} : { id: { $in: [...ids] } }),
        ...(types === null ? {} : { type: { $in: [...types] } }),
      };
      return readSnapshot(connection, 'list_took_too_long', async (db, options) => {
        const byOrder = () => ({ ...options(), hint: directoryIndexNames.order });
        const page = await directoryIn(db)
          .find(filter as object, byOrder())
          .sort({ created_revision: -1 })
          .skip(offset)
          .limit(limit)
          .toArray();
        return { records: page.map(recordOf), total: await countBy(db, directoryCollection, filter, byOrder()) };
      });
    },
    async keyUsedIn(keyHash) {
      const projection = { keys: { $elemMatch: { hash: keyHash } } };
      const found = await call((db) =>
        directoryIn(db).findOne(withKey(keyHash), { hint: directoryIndexNames.keys, projection }),
      );
      return found?.keys[0]?.used_on ?? null;
    },
    async markKeyUsed(keyHash, minute) {
      await call((db) =>
        directoryIn(db).updateOne(
          withKey(keyHash),
          { $max: { 'keys.$.used_on': minute } },
          { hint: directoryIndexNames.keys },
        ),
      );
    },
  };
}
