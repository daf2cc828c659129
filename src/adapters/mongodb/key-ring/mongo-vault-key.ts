import type { Clock } from '../../../ports/clock.js';
import { newTenantKey, openTenantKey, type VaultKeyPurpose, vaultKeyTenant } from '../../key-ring/tenant-key.js';
import { keptOnceOpened } from '../../key-ring/vault-keys.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { keyCollections, type TenantKeyDocument } from './key-collections.js';
import type { MongoRootKeys } from './mongo-root-keys.js';

type VaultKeyDeps = {
  readonly connection: MongoConnection;
  readonly roots: MongoRootKeys;
  readonly clock: Clock;
};

/**
 * Returns a function that opens a key of the vault. The first process that calls it creates the key if it is missing.
 */
export function createMongoVaultKey<T>(
  { connection: { call }, roots, clock }: VaultKeyDeps,
  purpose: VaultKeyPurpose,
  keyOf: (secret: Buffer) => T,
): () => Promise<T> {
  const name = { tenant: vaultKeyTenant, purpose };
  const stored = () => call((db) => keyCollections.tenantKeys(db).findOne({ ...name, number: 1 }));

  async function make(): Promise<void> {
    try {
      await roots.wrapping(async (rootKey, db, session) => {
        const { id, wrapped } = newTenantKey(rootKey, vaultKeyTenant, purpose);
        const key: TenantKeyDocument = {
          ...{ _id: id, ...name, number: 1, made_at: clock.now() },
          ...{ destroyed_at: null, destroyed_by: null, wrapped },
        };
        await keyCollections.tenantKeys(db).insertOne(key, { session });
      });
    } catch (error) {
      // Another process was first.
      if (!(error instanceof DuplicateKey)) throw error;
    }
  }

  async function secretOf(): Promise<Buffer | null> {
    const row = await stored();
    const wrapped = row?.wrapped ?? null;
    if (row === null || wrapped === null) return null;
    return roots.open((rootKey) => openTenantKey(rootKey, wrapped, { ...name, id: row._id }));
  }

  return keptOnceOpened(async () => {
    if ((await stored()) === null) await make();
    let secret = await secretOf();
    if (secret === null) {
      // Another process may have replaced the root key.
      await roots.refresh();
      secret = await secretOf();
    }
    if (secret === null)
      throw new MongoBroken(`the ${purpose} key in the key store does not open: restore it from a backup.`);
    return keyOf(secret);
  });
}
