import { setTimeout as wait } from 'node:timers/promises';
import type { KeyStore, StoredTenantKey, TenantKeyPurpose } from '../ports/key-store.js';
import type { TenantKeys } from './key-ring.js';
import type { RootKeys } from './root-keys.js';
import { deriveSubkeys, identityKeyOf, newTenantKey, openTenantKey } from './tenant-key.js';
import { TenantKeysBroken } from './tenant-keys-broken.js';
import type { TraceUses } from './trace-uses.js';

/** How long this process may use cached keys after another process has changed them (docs/design.md, "Growth"). */
const lifeMs = 1_000;
/**
 * How many times a tenant's keys are read before they count as damaged. One failed read proves nothing, because the
 * root key may have been replaced during the read.
 */
const attemptsMax = 3;

/**
 * A tenant's unwrapped keys. Subkeys are never zeroed, because a command that still uses a zeroed subkey would hash and
 * seal under a key that every attacker knows. A wrapping key is zeroed when it is dropped or destroyed, and `wrapping`
 * reflects this immediately. Callers must therefore look the wrapping key up again after each `await`.
 */
export type OpenTenantKeys = {
  /** `unknown` means that the tenant has no keys, or that its keys are being created. */
  readonly state: 'living' | 'destroyed' | 'unknown';
  readonly subkeys: TenantKeys | null;
  /** The wrapping keys, keyed by id. */
  readonly wrapping: ReadonlyMap<string, Buffer | 'destroyed'>;
  /**
   * The newest wrapping key. New data keys are wrapped under it, unless it is retiring. A retiring key is about to be
   * replaced, and must not wrap new data keys.
   */
  readonly newest: { readonly id: string; readonly number: number; readonly isRetiring: boolean } | null;
};

type KeyNumber = { readonly tenant: string; readonly number: number };

type Known = {
  readonly readAt: number;
  readonly signature: string;
  readonly tenant: OpenTenantKeys;
  readonly wrapping: Map<string, Buffer | 'destroyed'>;
};

/**
 * Unwraps and caches tenant keys, which are wrapped under the root key. If the store is shared, the keys are cached for
 * one second. Calls `onDestroyed` when it notices that this process or another process has destroyed a tenant's keys.
 */
export function createOpenTenants(
  store: KeyStore,
  roots: RootKeys,
  onDestroyed: (tenantId: string) => void,
  traceUses: Pick<TraceUses, 'next'>,
) {
  const tenants = new Map<string, Known>();
  const reading = new Map<string, Promise<OpenTenantKeys>>();
  let drops = 0;

  const insert = (purpose: TenantKeyPurpose, keys: readonly KeyNumber[]) =>
    roots.wrapping((rootKey, check) =>
      store.insertTenantKeys(
        keys.map(({ tenant, number }) => newTenantKey(rootKey, tenant, purpose, number)),
        check,
      ),
    );

  async function fresh(tenantId: string): Promise<OpenTenantKeys> {
    for (let attempt = 1; ; attempt += 1) {
      const tenant = await read(tenantId);
      if (tenant !== null) return tenant;
      if (attempt === attemptsMax) {
        throw new TenantKeysBroken(
          `a key of tenant ${tenantId} in ${store.title} does not open: restore ${store.title} from a backup.`,
        );
      }
      await roots.refresh();
    }
  }

  /** Reads and unwraps a tenant's keys. Returns null if they cannot be unwrapped with the root key of this process. */
  async function read(tenantId: string): Promise<OpenTenantKeys | null> {
    const readAt = performance.now();
    const dropsBefore = drops;
    const rows = await store.readTenantKeys(tenantId);
    const signature = rows.map(({ id, wrapped, isRetiring }) => `${id} ${wrapped === null} ${isRetiring}`).join();
    const known = tenants.get(tenantId);
    if (rows.length > 0 && known?.signature === signature) {
      tenants.set(tenantId, { ...known, readAt: Math.max(known.readAt, readAt) });
      return known.tenant;
    }
    const wrapping = known?.wrapping ?? new Map<string, Buffer | 'destroyed'>();
    const tenant = open(rows, wrapping, () => traceUses.next(tenantId));
    if (tenant === null) return null;
    // A read that began before a destruction must not cache the destroyed keys again.
    if (tenant.state !== 'unknown' && drops === dropsBefore) {
      tenants.set(tenantId, { readAt, signature, tenant, wrapping });
    }
    if (tenant.state === 'destroyed') onDestroyed(tenantId);
    return tenant;
  }

  /**
   * Unwraps the tenant's keys that are not in `wrapping` yet, and zeroes the keys that were destroyed. If the identity
   * key (`identityKeyOf`) is destroyed, all other keys count as destroyed, including keys that are being added at the
   * same time. Returns null if a key cannot be unwrapped.
   */
  function open(
    rows: readonly StoredTenantKey[],
    wrapping: Map<string, Buffer | 'destroyed'>,
    traceEpoch: () => number,
  ): OpenTenantKeys | null {
    const identity = identityKeyOf(rows);
    if (identity === undefined) return { state: 'unknown', subkeys: null, wrapping, newest: null };
    let newest: OpenTenantKeys['newest'] = null;
    for (const row of rows) {
      if (row.purpose !== 'wrapping') continue;
      const known = wrapping.get(row.id);
      if (identity.wrapped === null || row.wrapped === null) {
        if (Buffer.isBuffer(known)) known.fill(0);
        wrapping.set(row.id, 'destroyed');
        continue;
      }
      const key = known ?? openKey(row, row.wrapped);
      if (key === null) return null;
      wrapping.set(row.id, key);
      newest = { id: row.id, number: row.number, isRetiring: row.isRetiring };
    }
    if (identity.wrapped === null) return { state: 'destroyed', subkeys: null, wrapping, newest };
    const key = openKey(identity, identity.wrapped);
    return key === null ? null : { state: 'living', subkeys: deriveSubkeys(key, traceEpoch), wrapping, newest };
  }

  function openKey(row: StoredTenantKey, wrapped: Buffer): Buffer | null {
    return roots.open((rootKey) => openTenantKey(rootKey, wrapped, row));
  }

  function drop(tenantId: string): void {
    drops += 1;
    const known = tenants.get(tenantId);
    tenants.delete(tenantId);
    reading.delete(tenantId);
    for (const key of known?.wrapping.values() ?? []) if (key !== 'destroyed') key.fill(0);
    known?.wrapping.clear();
  }

  /** Returns the tenant's keys. If the store is shared, the keys were read at most one second ago. */
  function current(tenantId: string): OpenTenantKeys | Promise<OpenTenantKeys> {
    const known = tenants.get(tenantId);
    if (known !== undefined && (!store.isShared || performance.now() - known.readAt < lifeMs)) return known.tenant;
    const underWay = reading.get(tenantId);
    if (underWay !== undefined) return underWay;
    const read = fresh(tenantId).finally(() => reading.delete(tenantId));
    reading.set(tenantId, read);
    return read;
  }

  return {
    /**
     * Creates the tenant's first keys if they are missing. The identity key is created last, because a tenant without
     * an identity key counts as unknown.
     */
    async create(tenant: string): Promise<void> {
      await insert('wrapping', [{ tenant, number: 1 }]);
      await insert('identity', [{ tenant, number: 1 }]);
    },
    /** Adds wrapping keys with these numbers, if no other process has added them already. */
    addWrapping: (keys: readonly KeyNumber[]) => insert('wrapping', keys),
    fresh,
    current,
    /**
     * Returns the tenant's keys, including this wrapping key if it exists. If the cached keys do not include the
     * wrapping key, reads the keys again.
     */
    async having(tenantId: string, wrappingKeyId: string): Promise<OpenTenantKeys> {
      const tenant = await current(tenantId);
      return tenant.wrapping.has(wrappingKeyId) ? tenant : fresh(tenantId);
    },
    /**
     * Destroys the tenant's keys, and returns how many keys this call destroyed. Once the promise resolves, no process
     * uses the keys anymore.
     */
    async destroy(tenantId: string, eventId: string): Promise<number> {
      const destroyed = await store.destroyTenantKeys(tenantId, eventId);
      if (store.isShared && destroyed > 0) await wait(lifeMs);
      return destroyed;
    },
    drop,
    forgetAll(): void {
      for (const tenantId of [...tenants.keys()]) drop(tenantId);
    },
  };
}
