import type { AnyBulkWriteOperation } from 'mongodb';
import { type Clock, earliestNow } from '../../../ports/clock.js';
import { noEvent } from '../../../ports/key-ring.js';
import { type KeyRotation, RotationRefused } from '../../../ports/key-rotation.js';
import { rewrapDataKey } from '../../key-ring/data-key.js';
import { rewrapGenerationKey } from '../../key-ring/generation-key.js';
import { passesRootCheck } from '../../key-ring/root-check.js';
import { rewrapTenantKey } from '../../key-ring/tenant-key.js';
import type { MongoConnection } from '../connection.js';
import { uuidBytes, uuidText } from '../uuid.js';
import {
  type DataKeyDocument,
  type GenerationKeyDocument,
  keyCollections,
  type MetaDocument,
  type TenantKeyDocument,
} from './key-collections.js';
import type { createMongoDataKeys } from './mongo-data-keys.js';
import { type MongoRootKeys, storedRootCheck } from './mongo-root-keys.js';
import type { OpenTenant } from './mongo-tenant-keys.js';

const stepSize = 500;
const lookedAtOnce = 5_000;

type Deps = {
  readonly connection: MongoConnection;
  readonly roots: MongoRootKeys;
  readonly dataKeys: ReturnType<typeof createMongoDataKeys>;
  readonly clock: Clock;
  readonly freshTenant: (tenantId: string) => Promise<OpenTenant>;
  /** Adds the wrapping key with this number, unless another process has added it. */
  readonly addWrapping: (tenantId: string, number: number) => Promise<void>;
  /** Returns the newest wrapping key of a tenant with room for this many wraps, and counts them. */
  readonly wrapperFor: (tenantId: string, wraps: number) => Promise<{ readonly id: string; readonly key: Buffer }>;
};

/**
 * Returns `KeyRotation` on MongoDB (ADR 29). A rotation marks old wrapping keys as `retiring`. After creating data
 * keys, a process checks whether their wrapping key is retiring, so no key in use is added unnoticed by a rotation.
 */
export function mongoKeyRotation(needs: Deps): KeyRotation {
  const { connection, roots, dataKeys, clock, freshTenant, addWrapping, wrapperFor } = needs;
  const { call } = connection;

  /** Returns the tenant of each wrapping key that is being replaced. */
  async function oldOnes(): Promise<ReadonlyMap<string, string>> {
    const rows = await call((db) =>
      keyCollections.tenantKeys(db).find({ purpose: 'wrapping', retiring: true, destroyed_at: null }).toArray(),
    );
    return new Map(rows.map(({ _id, tenant }) => [_id, tenant]));
  }

  async function mark(): Promise<void> {
    const begun = await call((db) => keyCollections.meta(db).findOne({ _id: 'rotation' }));
    if (begun?.value === 'begun') return;
    // The time is taken before the marks. Threat: with a later time, a copy made between the marks and that time would
    // hold newer keys and yet be reported as void.
    const at = earliestNow(clock);
    await call((db) =>
      keyCollections
        .tenantKeys(db)
        .updateMany({ purpose: 'wrapping', destroyed_at: null }, { $set: { retiring: true } }),
    );
    await call((db) =>
      keyCollections.meta(db).updateOne({ _id: 'rotation' }, { $set: { value: 'begun', at } }, { upsert: true }),
    );
  }

  async function makeNewerKeys(): Promise<void> {
    const living = await call((db) =>
      keyCollections.tenantKeys(db).find({ purpose: 'wrapping', destroyed_at: null }).sort({ number: 1 }).toArray(),
    );
    const newest = new Map(living.map((row) => [row.tenant, row]));
    for (const { tenant, number, retiring } of newest.values()) {
      if (retiring === true) await addWrapping(tenant, number + 1);
    }
  }

  async function rewrapOf(tenantId: string, rows: readonly DataKeyDocument[]) {
    const to = await wrapperFor(tenantId, rows.length).catch(async (error: unknown) => {
      // If the tenant was destroyed meanwhile, all of its keys are destroyed with it.
      if ((await freshTenant(tenantId)).state === 'destroyed') return null;
      throw error;
    });
    const tenant = await freshTenant(tenantId);
    if (tenant.state !== 'living' || to === null) return [];
    return rows.map(({ _id, tenant_key, wrapped }) => {
      const key = tenant.wrapping.get(tenant_key);
      const keyId = uuidText(_id);
      const rewrapped =
        Buffer.isBuffer(key) && wrapped !== null
          ? rewrapDataKey({ id: tenant_key, key }, to, wrapped, { tenantId, keyId })
          : null;
      if (rewrapped === null) throw new RotationRefused(unopened(`the data key ${keyId}`));
      return { keyId, from: tenant_key, to: to.id, wrapped: rewrapped };
    });
  }

  async function isAnyLeft(): Promise<boolean> {
    const old = await oldOnes();
    let after = 0;
    for (;;) {
      const page = await dataKeys.livingAfter(after, lookedAtOnce);
      if (page.rows.some(({ tenant_key }) => old.has(tenant_key))) return true;
      if (page.last === null) return false;
      after = page.last;
    }
  }

  return {
    async isUnder(rootKey) {
      const check = await storedRootCheck(connection);
      return check !== null && passesRootCheck(rootKey, check);
    },
    async begin() {
      await mark();
      await makeNewerKeys();
      return call((db) => keyCollections.dataKeys(db).countDocuments({ destroyed_at: null }));
    },
    async rewrap(afterSequence) {
      const { rows, last } = await dataKeys.livingAfter(afterSequence, stepSize);
      if (last === null) return null;
      const old = await oldOnes();
      const byTenant = new Map<string, DataKeyDocument[]>();
      for (const row of rows) {
        const tenantId = old.get(row.tenant_key);
        if (tenantId !== undefined) byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), row]);
      }
      for (const [tenantId, ofTenant] of byTenant) await dataKeys.rewrap(await rewrapOf(tenantId, ofTenant));
      return { sequence: last, looked: rows.length };
    },
    async replaceRoot(next) {
      if (await isAnyLeft()) return false;
      await roots.replace(next, async (rootKey, db, session) => {
        const living = { destroyed_at: null };
        const at = clock.now();
        const tenantKeys = await keyCollections.tenantKeys(db).find(living, { session }).toArray();
        const ofTenants = tenantKeys.map((row) => rewrappedTenantKey(row, rootKey, next, at));
        const generationKeys = await keyCollections.generationKeys(db).find(living, { session }).toArray();
        const ofGenerations = generationKeys.map((row) => rewrappedGenerationKey(row, rootKey, next));
        const ofMeta = ended(await keyCollections.meta(db).findOne({ _id: 'rotation', value: 'begun' }, { session }));
        return async () => {
          if (ofTenants.length > 0) await keyCollections.tenantKeys(db).bulkWrite(ofTenants, { session });
          if (ofGenerations.length > 0) await keyCollections.generationKeys(db).bulkWrite(ofGenerations, { session });
          await keyCollections.meta(db).bulkWrite(ofMeta, { session });
        };
      });
      return true;
    },
    async voidBefore() {
      const found = await call((db) => keyCollections.meta(db).findOne({ _id: 'copies_void_before' }));
      return found === null ? null : Number(found.value);
    },
    async settle() {},
  };
}

/**
 * Returns the updates that record the end of the rotation and the time before which copies are void. The mark of an
 * older version has no time.
 */
function ended(begun: MetaDocument | null): AnyBulkWriteOperation<MetaDocument>[] {
  const over = { updateOne: { filter: { _id: 'rotation' }, update: { $set: { value: 'ended' } } } };
  if (begun?.at === undefined) return [over];
  const update = { $set: { value: begun.at } };
  return [over, { updateOne: { filter: { _id: 'copies_void_before' }, update, upsert: true } }];
}

/** Returns the update that wraps a key under the next root key, or destroys it if it is being replaced. */
function rewrappedTenantKey(
  { _id, tenant, purpose, wrapped, retiring }: TenantKeyDocument,
  rootKey: Buffer,
  next: Buffer,
  at: number,
): AnyBulkWriteOperation<TenantKeyDocument> {
  const filter = { _id, destroyed_at: null };
  if (purpose === 'wrapping' && retiring === true) {
    const $set = { destroyed_at: at, destroyed_by: uuidBytes(noEvent), wrapped: null };
    return { updateOne: { filter, update: { $set } } };
  }
  const rewrapped = wrapped === null ? null : rewrapTenantKey(rootKey, next, wrapped, { id: _id, tenant, purpose });
  if (rewrapped === null) throw new RotationRefused(unopened(`the ${purpose} key ${_id}`));
  return { updateOne: { filter, update: { $set: { wrapped: rewrapped } } } };
}

function rewrappedGenerationKey(
  { _id, wrapped }: GenerationKeyDocument,
  rootKey: Buffer,
  next: Buffer,
): AnyBulkWriteOperation<GenerationKeyDocument> {
  const rewrapped = wrapped === null ? null : rewrapGenerationKey(rootKey, next, wrapped, _id);
  if (rewrapped === null) throw new RotationRefused(unopened(`the search key of generation ${_id}`));
  return { updateOne: { filter: { _id, destroyed_at: null }, update: { $set: { wrapped: rewrapped } } } };
}

function unopened(what: string): string {
  return `${what} does not open, so it cannot be rewrapped; nothing was removed. Restore the keys from a backup.`;
}
