import type { Clock } from '../../../ports/clock.js';
import type { SigningKey } from '../../../ports/key-ring.js';
import { keptOnceOpened, signingKeyName as name, signingKeyOf } from '../../key-ring/signing-key.js';
import { newTenantKey, openTenantKey } from '../../key-ring/tenant-key.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { keyCollections, type TenantKeyDocument } from './key-collections.js';
import type { MongoRootKeys } from './mongo-root-keys.js';

/** Answers the signing key of the vault; whichever process asks first makes it, when there is none. */
export function createMongoSigningKey({ call }: MongoConnection, roots: MongoRootKeys, clock: Clock) {
  const stored = () => call((db) => keyCollections.tenantKeys(db).findOne({ ...name, number: 1 }));

  async function make(): Promise<void> {
    try {
      await roots.wrapping(async (rootKey, db, session) => {
        const { id, wrapped } = newTenantKey(rootKey, name.tenant, name.purpose);
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

  async function seedOf(): Promise<Buffer | null> {
    const row = await stored();
    const wrapped = row?.wrapped ?? null;
    if (row === null || wrapped === null) return null;
    return roots.open((rootKey) => openTenantKey(rootKey, wrapped, { ...name, id: row._id }));
  }

  async function open(): Promise<SigningKey> {
    if ((await stored()) === null) await make();
    let seed = await seedOf();
    if (seed === null) {
      // Another process may have replaced the root key.
      await roots.refresh();
      seed = await seedOf();
    }
    if (seed === null)
      throw new MongoBroken('the signing key in the key store does not open: restore it from a backup.');
    return signingKeyOf(seed);
  }

  return keptOnceOpened(open);
}
