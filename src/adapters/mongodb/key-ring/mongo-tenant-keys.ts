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

/** The time for which cached keys are used after another process has changed them (docs/design.md, "Growth"). */
const lifeMs = 1_000;
/** A rotation may come between the reads of the rows and of the root key, so the read is repeated. */
const attemptsMax = 3;

/** The opened keys of a tenant. A caller may still use them after they were destroyed, so they are never zeroed. */
export type OpenTenant = {
  /** `unknown` means that the tenant has no keys, or that they are being created. */
  readonly state: 'living' | 'destroyed' | 'unknown';
  readonly subkeys: TenantKeys | null;
  /** By the id of the key. */
  readonly wrapping: ReadonlyMap<string, Buffer | 'destroyed'>;
  /** The key that wraps new data keys. */
  readonly newest: {
    readonly id: string;
    readonly number: number;
    readonly key: Buffer;
    /** True if a rotation is replacing the key. Such a key must wrap no new keys. */
    readonly isRetiring: boolean;
  } | null;
};

type Known = { readonly readAt: number; readonly signature: string; readonly tenant: OpenTenant };

/**
 * Returns the keys of tenants in MongoDB, each wrapped under the root key. They are read again after a second. Calls
 * `onDestroyed` when it finds the keys of a tenant destroyed, by whichever process.
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
      // Another process was first. Its key serves as well.
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

  /** Returns null if the tenant's keys do not open with the root key of this process. */
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
    // A read that began before a destruction must not cache the destroyed keys again.
    if (tenant.state !== 'unknown' && drops === dropsBefore) tenants.set(tenantId, { readAt, signature, tenant });
    if (tenant.state === 'destroyed') onDestroyed(tenantId);
    return tenant;
  }

  return {
    /** Creates the first keys of a tenant where they are missing. They are durable when the promise resolves. */
    async create(tenantId: string): Promise<void> {
      await insert(tenantId, 'wrapping', 1);
      await insert(tenantId, 'identity', 1);
    },
    /** Adds the wrapping key with this number, unless another process has added it. */
    addWrapping: (tenantId: string, number: number): Promise<void> => insert(tenantId, 'wrapping', number),
    fresh,
    /** Returns whether a rotation is replacing this key or has replaced it. */
    async isRetiring(id: string): Promise<boolean> {
      const row = await call((db) => keyCollections.tenantKeys(db).findOne({ _id: id }));
      return row === null || row.retiring === true || row.destroyed_at !== null;
    },
    /** Returns the keys of a tenant. They are at most a second old. */
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
     * Overwrites the keys of a tenant and returns how many were living. Resolves when no process uses them any more.
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
 * Opens the keys of a tenant. Once the identity key is destroyed, all other keys count as destroyed, including one that
 * was added at that moment. Returns null if a key does not open.
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
