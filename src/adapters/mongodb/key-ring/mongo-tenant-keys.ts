import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../../ports/clock.js';
import type { TenantKeys } from '../../../ports/key-ring.js';
import { deriveSubkeys, newTenantKey, openTenantKey, type TenantKeyPurpose } from '../../key-ring/tenant-key.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { uuidBytes } from '../uuid.js';
import { keyCollections, type TenantKeyDocument } from './key-collections.js';

/** What another process changes holds here after this long at most (architecture, "Growth"). */
const lifeMs = 1_000;

/** The opened keys of a tenant. Whoever holds them goes on after they were destroyed, so none is ever zeroed. */
export type OpenTenant = {
  /** `unknown`: it has no keys, or they are being made. */
  readonly state: 'living' | 'destroyed' | 'unknown';
  readonly subkeys: TenantKeys | null;
  /** By the id of the key. */
  readonly wrapping: ReadonlyMap<string, Buffer | 'destroyed'>;
  /** What wraps new data keys. */
  readonly newest: { readonly id: string; readonly number: number; readonly key: Buffer } | null;
};

type Known = { readonly readAt: number; readonly signature: string; readonly tenant: OpenTenant };

/**
 * The keys of tenants in MongoDB, each wrapped under the root key; looked up again after a second. `onDestroyed` is told
 * when the keys of a tenant turn out to have been destroyed, whoever did it.
 */
export function createMongoTenantKeys(
  { call }: MongoConnection,
  rootKey: Buffer,
  clock: Clock,
  onDestroyed: (tenantId: string) => void,
) {
  const tenants = new Map<string, Known>();
  const reading = new Map<string, Promise<OpenTenant>>();
  let drops = 0;

  async function insert(tenantId: string, purpose: TenantKeyPurpose, number: number): Promise<void> {
    const { id, wrapped } = newTenantKey(rootKey, tenantId, purpose);
    const key: TenantKeyDocument = {
      ...{ _id: id, tenant: tenantId, purpose, number, made_at: clock.now() },
      ...{ destroyed_at: null, destroyed_by: null, wrapped },
    };
    try {
      await call((db) => keyCollections.tenantKeys(db).insertOne(key));
    } catch (error) {
      // Another process was first: its key is as good.
      if (!(error instanceof DuplicateKey)) throw error;
    }
  }

  async function fresh(tenantId: string): Promise<OpenTenant> {
    const readAt = performance.now();
    const dropsBefore = drops;
    const rows = await call((db) =>
      keyCollections.tenantKeys(db).find({ tenant: tenantId }).sort({ purpose: 1, number: 1 }).toArray(),
    );
    const signature = rows.map(({ _id, destroyed_at }) => `${_id} ${destroyed_at ?? ''}`).join();
    const known = tenants.get(tenantId);
    if (rows.length > 0 && known?.signature === signature) {
      tenants.set(tenantId, { ...known, readAt: Math.max(known.readAt, readAt) });
      return known.tenant;
    }
    const tenant = openTenant(rows, rootKey);
    // A look-up that began before a destruction must not bring back what it saw.
    if (tenant.state !== 'unknown' && drops === dropsBefore) tenants.set(tenantId, { readAt, signature, tenant });
    if (tenant.state === 'destroyed') onDestroyed(tenantId);
    return tenant;
  }

  return {
    /** Makes what a tenant lacks of its first keys; durable when it resolves. */
    async create(tenantId: string): Promise<void> {
      await insert(tenantId, 'wrapping', 1);
      await insert(tenantId, 'identity', 1);
    },
    /** Adds the wrapping key of this number, unless another process did. */
    addWrapping: (tenantId: string, number: number): Promise<void> => insert(tenantId, 'wrapping', number),
    fresh,
    /** As it was a second ago at most. */
    async current(tenantId: string): Promise<OpenTenant> {
      const known = tenants.get(tenantId);
      if (known !== undefined && performance.now() - known.readAt < lifeMs) return known.tenant;
      const underWay = reading.get(tenantId);
      if (underWay !== undefined) return underWay;
      const read = fresh(tenantId).finally(() => reading.delete(tenantId));
      reading.set(tenantId, read);
      return read;
    },
    /** Overwrites the keys of a tenant; resolves when no process uses them any more. Answers how many lived until now. */
    async destroy(tenantId: string, eventId: string): Promise<number> {
      const { modifiedCount } = await call((db) =>
        keyCollections
          .tenantKeys(db)
          .updateMany(
            { tenant: tenantId, destroyed_at: null },
            { $set: { destroyed_at: clock.now(), destroyed_by: uuidBytes(eventId), wrapped: null } },
          ),
      );
      if (modifiedCount > 0) await wait(lifeMs);
      return modifiedCount;
    },
    drop(tenantId: string): void {
      drops += 1;
      tenants.delete(tenantId);
      reading.delete(tenantId);
    },
  };
}

/** Of a tenant whose identity is destroyed nothing is used any more: also no key that was added at that moment. */
function openTenant(rows: readonly TenantKeyDocument[], rootKey: Buffer): OpenTenant {
  const wrapping = new Map<string, Buffer | 'destroyed'>();
  let newest: OpenTenant['newest'] = null;
  const identity = rows.find(({ purpose }) => purpose === 'identity');
  if (identity === undefined) return { state: 'unknown', subkeys: null, wrapping, newest };
  const isDestroyed = identity.wrapped === null;
  for (const row of rows) {
    if (row.purpose !== 'wrapping') continue;
    const key = isDestroyed || row.wrapped === null ? 'destroyed' : unwrap(row, row.wrapped, rootKey);
    wrapping.set(row._id, key);
    if (key !== 'destroyed') newest = { id: row._id, number: row.number, key };
  }
  if (identity.wrapped === null) return { state: 'destroyed', subkeys: null, wrapping, newest: null };
  const subkeys = deriveSubkeys(unwrap(identity, identity.wrapped, rootKey));
  return { state: 'living', subkeys, wrapping, newest };
}

function unwrap({ _id: id, tenant, purpose }: TenantKeyDocument, wrapped: Buffer, rootKey: Buffer): Buffer {
  const key = openTenantKey(rootKey, wrapped, { id, tenant, purpose });
  if (key === null) {
    throw new MongoBroken('a tenant key in the key store does not open: restore the key store from a backup.');
  }
  return key;
}
