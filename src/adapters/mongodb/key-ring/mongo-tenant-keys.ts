import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../../ports/clock.js';
import type { TenantKeys } from '../../../ports/key-ring.js';
import { deriveSubkeys, newTenantKey, openTenantKey, type TenantKeyPurpose } from '../../key-ring/tenant-key.js';
import type { TraceUses } from '../../key-ring/trace-uses.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { DuplicateKey } from '../mongo-error.js';
import { uuidBytes } from '../uuid.js';
import { keyCollections, type TenantKeyDocument } from './key-collections.js';
import type { MongoRootKeys } from './mongo-root-keys.js';

/** What another process changes holds here after this long at most (docs/design.md, "Growth"). */
const lifeMs = 1_000;
/** Rows and root key are read one after the other, and a rotation may come in between. */
const attemptsMax = 3;

/** The opened keys of a tenant. Whoever holds them goes on after they were destroyed, so none is ever zeroed. */
export type OpenTenant = {
  /** `unknown`: it has no keys, or they are being made. */
  readonly state: 'living' | 'destroyed' | 'unknown';
  readonly subkeys: TenantKeys | null;
  /** By the id of the key. */
  readonly wrapping: ReadonlyMap<string, Buffer | 'destroyed'>;
  /** What wraps new data keys. */
  readonly newest: {
    readonly id: string;
    readonly number: number;
    readonly key: Buffer;
    /** A rotation replaces it: it may wrap nothing new. */
    readonly isRetiring: boolean;
  } | null;
};

type Known = { readonly readAt: number; readonly signature: string; readonly tenant: OpenTenant };

/**
 * The keys of tenants in MongoDB, each wrapped under the root key; looked up again after a second. `onDestroyed` is
 * told when the keys of a tenant turn out to have been destroyed, whoever did it.
 */
export function createMongoTenantKeys(
  { call }: MongoConnection,
  roots: MongoRootKeys,
  clock: Clock,
  onDestroyed: (tenantId: string) => void,
  traceUses: Pick<TraceUses, 'next'>,
) {
  const tenants = new Map<string, Known>();
  const reading = new Map<string, Promise<OpenTenant>>();
  let drops = 0;

  async function insert(tenantId: string, purpose: TenantKeyPurpose, number: number): Promise<void> {
    try {
      await roots.wrapping(async (rootKey, db, session) => {
        const { id, wrapped } = newTenantKey(rootKey, tenantId, purpose);
        const key: TenantKeyDocument = {
          ...{ _id: id, tenant: tenantId, purpose, number, made_at: clock.now() },
          ...{ destroyed_at: null, destroyed_by: null, wrapped },
        };
        await keyCollections.tenantKeys(db).insertOne(key, { session });
      });
    } catch (error) {
      // Another process was first: its key is as good.
      if (!(error instanceof DuplicateKey)) throw error;
    }
  }

  async function fresh(tenantId: string): Promise<OpenTenant> {
    for (let attempt = 1; ; attempt += 1) {
      const tenant = await readTenant(tenantId);
      if (tenant !== null) return tenant;
      if (attempt === attemptsMax) throw new MongoBroken(unopened);
      await roots.refresh();
    }
  }

  /** Null: its keys do not open with the root key of this process. */
  async function readTenant(tenantId: string): Promise<OpenTenant | null> {
    const readAt = performance.now();
    const dropsBefore = drops;
    const rows = await call((db) =>
      keyCollections.tenantKeys(db).find({ tenant: tenantId }).sort({ purpose: 1, number: 1 }).toArray(),
    );
    const signature = rows
      .map(({ _id, destroyed_at, retiring = false }) => `${_id} ${destroyed_at ?? ''} ${retiring}`)
      .join();
    const known = tenants.get(tenantId);
    if (rows.length > 0 && known?.signature === signature) {
      tenants.set(tenantId, { ...known, readAt: Math.max(known.readAt, readAt) });
      return known.tenant;
    }
    const tenant = openTenant(rows, roots, () => traceUses.next(tenantId));
    if (tenant === null) return null;
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
    /** Whether a rotation replaces this key, or did. */
    async isRetiring(id: string): Promise<boolean> {
      const row = await call((db) => keyCollections.tenantKeys(db).findOne({ _id: id }));
      return row === null || row.retiring === true || row.destroyed_at !== null;
    },
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
    /**
     * Overwrites the keys of a tenant; resolves when no process uses them any more. Answers how many lived until now.
     */
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

/**
 * Of a tenant whose identity is destroyed nothing is used any more: also no key that was added at that moment. Null: a
 * key does not open.
 */
function openTenant(
  rows: readonly TenantKeyDocument[],
  roots: MongoRootKeys,
  traceEpoch: () => number,
): OpenTenant | null {
  const wrapping = new Map<string, Buffer | 'destroyed'>();
  let newest: OpenTenant['newest'] = null;
  const identity = rows.find(({ purpose }) => purpose === 'identity');
  if (identity === undefined) return { state: 'unknown', subkeys: null, wrapping, newest };
  const isDestroyed = identity.wrapped === null;
  for (const row of rows) {
    if (row.purpose !== 'wrapping') continue;
    const key = isDestroyed || row.wrapped === null ? 'destroyed' : unwrap(row, row.wrapped, roots);
    if (key === null) return null;
    wrapping.set(row._id, key);
    if (key !== 'destroyed') newest = { id: row._id, number: row.number, key, isRetiring: row.retiring === true };
  }
  if (identity.wrapped === null) return { state: 'destroyed', subkeys: null, wrapping, newest: null };
  const key = unwrap(identity, identity.wrapped, roots);
  return key === null ? null : { state: 'living', subkeys: deriveSubkeys(key, traceEpoch), wrapping, newest };
}

function unwrap({ _id: id, tenant, purpose }: TenantKeyDocument, wrapped: Buffer, roots: MongoRootKeys): Buffer | null {
  return roots.open((rootKey) => openTenantKey(rootKey, wrapped, { id, tenant, purpose }));
}

const unopened = 'a tenant key in the key store does not open: restore the key store from a backup.';
