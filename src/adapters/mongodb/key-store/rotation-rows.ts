import { type Clock, earliestNow } from '../../../ports/clock.js';
import { noEvent, type RotationRows } from '../../../ports/key-store.js';
import type { MongoConnection } from '../connection.js';
import { uuidBytes } from '../uuid.js';
import type { mongoDataKeys } from './data-keys.js';
import { keyCollections, metaValue } from './key-collections.js';
import { underRootCheck } from './root-check.js';

const lookedAtOnce = 5_000;

type DataKeys = Pick<ReturnType<typeof mongoDataKeys>, 'countLivingDataKeys' | 'livingDataKeys' | 'rewrapDataKeys'>;

/**
 * Implements `RotationRows` on MongoDB (ADR 29). A rotation marks the old wrapping keys as `retiring`. After a process
 * has stored data keys, it checks whether their wrapping key is retiring, and destroys the new data keys if it is. A
 * rotation therefore never misses a data key that is in use.
 */
export function mongoRotationRows(connection: MongoConnection, clock: Clock, dataKeys: DataKeys): RotationRows {
  const { call } = connection;

  async function wrappingKeys() {
    const living = await call((db) =>
      keyCollections.tenantKeys(db).find({ purpose: 'wrapping', destroyed_at: null }).sort({ number: 1 }).toArray(),
    );
    return living.map(({ _id: id, tenant, number, retiring = false }) => ({
      id,
      tenant,
      number,
      isRetiring: retiring,
    }));
  }

  /** Returns the ids of the retiring keys. Returns null if one of them still wraps a data key. */
  async function unusedKeys(): Promise<ReadonlySet<string> | null> {
    const old = new Set((await wrappingKeys()).filter(({ isRetiring }) => isRetiring).map(({ id }) => id));
    let after = 0;
    for (;;) {
      const page = await dataKeys.livingDataKeys(after, lookedAtOnce);
      if (page === null) return old;
      if (page.keys.some(({ tenantKeyId }) => old.has(tenantKeyId))) return null;
      after = page.last;
    }
  }

  return {
    ...dataKeys,
    wrappingKeys,
    async begin(check) {
      if ((await metaValue(connection, 'rotation')) === 'begun') return;
      // Reads the clock before marking the keys. Threat: if the clock were read later, a copy of the key store that was
      // made after the keys were marked could contain newer keys and still be reported as void.
      const at = earliestNow(clock);
      await call((db) =>
        keyCollections
          .tenantKeys(db)
          .updateMany({ purpose: 'wrapping', destroyed_at: null }, { $set: { retiring: true } }),
      );
      // Threat: this process is suspended while others complete a rotation. If it then recorded that a rotation has
      // begun, the next rotation would not mark the keys that were created meanwhile, and would not replace them.
      await underRootCheck(connection, check, async (db, session, expectCheck) => {
        const begins = { $set: { value: 'begun', at } };
        await keyCollections.meta(db).updateOne({ _id: 'rotation' }, begins, { upsert: true, session });
        await expectCheck();
      });
    },
    async replaceRoot({ check, nextCheck, rewrap }) {
      const unused = await unusedKeys();
      if (unused === null) return 'keys_left';
      return underRootCheck(connection, check, async (db, session, expectCheck) => {
        const [tenantKeys, generationKeys] = [keyCollections.tenantKeys(db), keyCollections.generationKeys(db)];
        const living = { destroyed_at: null };
        const ofTenants = await tenantKeys.find(living, { session }).toArray();
        const ofGenerations = await generationKeys.find(living, { session }).toArray();
        const begun = await keyCollections.meta(db).findOne({ _id: 'rotation', value: 'begun' }, { session });
        const isOld = ({ purpose, retiring }: (typeof ofTenants)[number]) =>
          purpose === 'wrapping' && retiring === true;
        // Threat: `begin` of another process, which was suspended, marks the keys that replaced the old ones. Those keys
        // wrap data keys, and would be destroyed here.
        if (ofTenants.some((row) => isOld(row) && !unused.has(row._id))) return 'keys_left' as const;
        const rewrapped = rewrap(
          ofTenants.flatMap((row) => {
            const { _id: id, tenant, purpose, wrapped } = row;
            return isOld(row) || wrapped === null ? [] : [{ id, tenant, purpose, wrapped }];
          }),
          ofGenerations.flatMap(({ _id: generation, wrapped }) => (wrapped === null ? [] : [{ generation, wrapped }])),
        );
        await expectCheck(nextCheck);
        const destroyed = { destroyed_at: clock.now(), destroyed_by: uuidBytes(noEvent), wrapped: null };
        const tenantUpdates = [
          ...ofTenants.filter(isOld).map(({ _id }) => ({ _id, $set: destroyed })),
          ...rewrapped.tenantKeys.map(({ id: _id, wrapped }) => ({ _id, $set: { wrapped } })),
        ].map(({ _id, $set }) => ({ updateOne: { filter: { _id, destroyed_at: null }, update: { $set } } }));
        const generationUpdates = rewrapped.generationKeys.map(({ generation, wrapped }) => ({
          updateOne: { filter: { _id: generation, destroyed_at: null }, update: { $set: { wrapped } } },
        }));
        if (tenantUpdates.length > 0) await tenantKeys.bulkWrite(tenantUpdates, { session });
        if (generationUpdates.length > 0) await generationKeys.bulkWrite(generationUpdates, { session });
        const meta = keyCollections.meta(db);
        await meta.updateOne({ _id: 'rotation' }, { $set: { value: 'ended' } }, { session });
        if (begun?.at !== undefined) {
          const value = begun.at;
          await meta.updateOne({ _id: 'copies_void_before' }, { $set: { value } }, { session, upsert: true });
        }
        return 'replaced' as const;
      });
    },
    async voidBefore() {
      const time = await metaValue(connection, 'copies_void_before');
      return time === null ? null : Number(time);
    },
    async settle() {},
  };
}
