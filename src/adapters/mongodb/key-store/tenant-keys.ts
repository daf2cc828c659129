import type { Clock } from '../../../ports/clock.js';
import type { KeyStore, NewTenantKey, StoredTenantKey } from '../../../ports/key-store.js';
import type { MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { uuidBytes } from '../uuid.js';
import { keyCollections, type TenantKeyDocument } from './key-collections.js';
import { underRootCheck } from './root-check.js';

/** Stores the wrapped keys of the tenants and of the vault itself. */
export function mongoTenantKeys(
  connection: MongoConnection,
  clock: Clock,
): Pick<KeyStore, 'readTenantKeys' | 'findTenantKeys' | 'insertTenantKeys' | 'destroyTenantKeys'> {
  const { call } = connection;

  async function insert(key: NewTenantKey, rootCheck: Buffer): Promise<'stored' | 'root_replaced'> {
    const { id, tenant, purpose, number, wrapped } = key;
    const document: TenantKeyDocument = {
      _id: id,
      tenant,
      purpose,
      number,
      made_at: clock.now(),
      destroyed_at: null,
      destroyed_by: null,
      wrapped,
    };
    try {
      return await underRootCheck(connection, rootCheck, async (db, session, expectCheck) => {
        await keyCollections.tenantKeys(db).insertOne(document, { session });
        await expectCheck();
        return 'stored' as const;
      });
    } catch (error) {
      // Another process has already inserted a key with this number. The vault uses that key instead.
      if (error instanceof DuplicateKey) return 'stored';
      throw error;
    }
  }

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
      for (const key of keys) {
        if ((await insert(key, rootCheck)) === 'root_replaced') return 'root_replaced';
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
