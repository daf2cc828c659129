import type { Clock } from '../../../ports/clock.js';
import type { KeyStore, StoredTenantKey } from '../../../ports/key-store.js';
import type { MongoConnection } from '../connection.js';
import { uuidBytes } from '../uuid.js';
import { keyCollections, type TenantKeyDocument } from './key-collections.js';
import { insertWrappedKey } from './root-check.js';

/** Stores the wrapped keys of the tenants and of the vault itself. */
export function mongoTenantKeys(
  connection: MongoConnection,
  clock: Clock,
): Pick<KeyStore, 'readTenantKeys' | 'findTenantKeys' | 'insertTenantKeys' | 'destroyTenantKeys'> {
  const { call } = connection;

  return {
    async readTenantKeys(tenantId) {
      const rows = await call((db) =>
        keyCollections.tenantKeys(db).find({ tenant: tenantId }).sort({ purpose: 1, number: 1 }).toArray(),
      );
      return rows.map(storedKeyIn);
    },
    async findTenantKeys(ids) {
      const asked = { _id: { $in: [...ids] } };
      return (await call((db) => keyCollections.tenantKeys(db).find(asked).toArray())).map(storedKeyIn);
    },
    async insertTenantKeys(keys, rootCheck) {
      for (const { id, tenant, purpose, number, wrapped } of keys) {
        const key: TenantKeyDocument = {
          _id: id,
          tenant,
          purpose,
          number,
          made_at: clock.now(),
          destroyed_at: null,
          destroyed_by: null,
          wrapped,
        };
        const inserted = await insertWrappedKey(connection, rootCheck, (db, session) =>
          keyCollections.tenantKeys(db).insertOne(key, { session }),
        );
        // If the number of the key is taken, the vault uses the key that another process has inserted.
        if (inserted === 'root_replaced') return 'root_replaced';
      }
      return 'stored';
    },
    async destroyTenantKeys(tenantId, eventId) {
      const destroyed = { $set: { destroyed_at: clock.now(), destroyed_by: uuidBytes(eventId), wrapped: null } };
      const living = { tenant: tenantId, destroyed_at: null };
      const { modifiedCount } = await call((db) => keyCollections.tenantKeys(db).updateMany(living, destroyed));
      return modifiedCount;
    },
  };
}

function storedKeyIn(document: TenantKeyDocument): StoredTenantKey {
  const { _id: id, tenant, purpose, number, wrapped, retiring = false } = document;
  return { id, tenant, purpose, number, wrapped, isRetiring: retiring };
}
