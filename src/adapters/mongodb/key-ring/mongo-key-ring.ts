import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../ports/clock.js';
import {
  type DataKey,
  type EndedKey,
  type KeyRing,
  type KeyRingReader,
  type KeyUse,
  noEvent,
} from '../../../ports/key-ring.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { openDataKey, wrapDataKey, wrapsMax } from '../../key-ring/data-key.js';
import { createKeyCache } from '../../key-ring/key-cache.js';
import { createKeyPools } from '../../key-ring/key-pools.js';
import { ownBuffer, randomKey } from '../../key-ring/random-key.js';
import { createTraceUses, type TraceUseLimits } from '../../key-ring/trace-uses.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { keyCollections } from './key-collections.js';
import { createMongoDataKeys } from './mongo-data-keys.js';
import { createMongoGenerationKeys } from './mongo-generation-keys.js';
import { mongoKeyRotation } from './mongo-key-rotation.js';
import type { MongoRootKeys } from './mongo-root-keys.js';
import { createMongoSigningKey } from './mongo-signing-key.js';
import { createMongoTenantKeys, type OpenTenant } from './mongo-tenant-keys.js';

/**
 * `KeyRing` on a MongoDB database of its own, for many processes. A data key that another process destroyed may open
 * here for up to a minute more: the row of the token decides, never the key (architecture, "Keys"). The keys of a tenant
 * are looked at again each second. `logHead` answers the position of the newest event.
 */
export function mongoKeyRing(
  connection: MongoConnection,
  roots: MongoRootKeys,
  clock: Clock,
  logHead: () => Promise<number>,
  traceLimits: TraceUseLimits = {},
): KeyRing & { close(): Promise<void> } {
  const traceUses = createTraceUses(reserveTraces, traceLimits);
  const tenants = createMongoTenantKeys(connection, roots, clock, forget, traceUses);
  const generations = createMongoGenerationKeys(connection, roots, clock);
  const dataKeys = createMongoDataKeys(connection, clock);
  const signingKey = createMongoSigningKey(connection, roots, clock);
  const cache = createKeyCache();
  const pools = createKeyPools(makeBlock, () => clock.now());

  /** All processes count together. */
  async function reserveTraces(tenantId: string, count: number): Promise<number> {
    return (await dataKeys.countWraps(`traces.${tenantId}`, count)) - count;
  }

  /** The newest wrapping key of a tenant, with room for so many wraps, which are counted. */
  async function wrapperFor(tenantId: string, wraps: number): Promise<{ readonly id: string; readonly key: Buffer }> {
    for (;;) {
      const { id, number, key, isRetiring } = newestOf(await tenants.fresh(tenantId));
      if (!isRetiring && (await dataKeys.countWraps(id, wraps)) <= wrapsMax) return { id, key };
      await tenants.addWrapping(tenantId, number + 1);
    }
  }

  async function makeBlock(tenantId: string, size: number): Promise<DataKey[]> {
    for (;;) {
      const { id, key: wrappingKey } = await wrapperFor(tenantId, size);
      const keys = Array.from({ length: size }, () => ({ id: randomUUID(), key: randomKey() }));
      const rows = keys.map(({ id: keyId, key }) => ({
        ...{ id: keyId, wrapped: wrapDataKey(wrappingKey, key, { tenantId, tenantKeyId: id, keyId }) },
      }));
      const head = await logHead();
      // Keys know of the log what they were made after (ADR 32).
      await connection.call((db) =>
        keyCollections.meta(db).updateOne({ _id: 'log' }, { $max: { value: head } }, { upsert: true }),
      );
      await dataKeys.insert(id, head, rows);
      if (!(await tenants.isRetiring(id))) return keys;
      // A rotation may not have seen them, and ends what wraps them.
      for (const { key } of keys) key.fill(0);
      await dataKeys.destroy(keys.map(({ id: keyId }) => ({ keyId, eventId: noEvent })));
    }
  }

  /** The tenant with this wrapping key, which may be a second old. */
  async function tenantWith(tenantId: string, wrappingKeyId: string): Promise<OpenTenant> {
    const tenant = await tenants.current(tenantId);
    return tenant.wrapping.has(wrappingKeyId) ? tenant : tenants.fresh(tenantId);
  }

  async function read(tenantId: string, keyId: string, before = ''): Promise<Buffer | 'destroyed' | 'missing'> {
    const row = await dataKeys.find(keyId);
    if (row === null) return 'missing';
    if (row.wrapped === null) return 'destroyed';
    const tenant = await tenantWith(tenantId, row.tenant_key);
    const wrappingKey = tenant.wrapping.get(row.tenant_key);
    if (wrappingKey === 'destroyed') {
      if (tenant.state === 'destroyed') return 'destroyed';
      // A rotation may have rewrapped it since it was read.
      return row.tenant_key === before ? 'missing' : read(tenantId, keyId, row.tenant_key);
    }
    const place = { tenantId, tenantKeyId: row.tenant_key, keyId };
    return (wrappingKey === undefined ? null : openDataKey(wrappingKey, row.wrapped, place)) ?? 'missing';
  }

  /** Runs `use` with a key from the store, which stays open unless it was destroyed meanwhile. */
  async function useStored<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>> {
    const keep = cache.reading(tenantId, keyId);
    let key: Buffer | null = null;
    try {
      const found = await read(tenantId, keyId);
      if (typeof found === 'string') return { state: found };
      key = found;
      return { state: 'open', value: use(key) };
    } finally {
      if (!keep(key)) key?.fill(0);
    }
  }

  /** Lets go what is open of a tenant whose keys were destroyed. */
  function forget(tenantId: string): void {
    generations.dropTenant(tenantId);
    cache.dropTenant(tenantId);
    pools.drop(tenantId);
  }

  return {
    createTenant: (tenantId) => tenants.create(tenantId),
    async tenantKeys(tenantId) {
      const { subkeys } = await tenants.current(tenantId);
      const reserved = subkeys === null ? null : traceUses.ready(tenantId);
      if (reserved !== null) await reserved;
      return subkeys;
    },
    async searchKey(tenantId, generation) {
      const { subkeys } = await tenants.current(tenantId);
      return subkeys === null ? null : generations.searchKey(generation, tenantId, subkeys.names);
    },
    createGeneration: () => generations.create(),
    generations: () => generations.living(),
    destroyGeneration: (generation) => generations.destroy(generation),
    async destroyTenant(tenantId: string, eventId: string): Promise<number> {
      const drop = () => {
        tenants.drop(tenantId);
        forget(tenantId);
      };
      drop();
      try {
        return await tenants.destroy(tenantId, eventId);
      } finally {
        // What a read brought back meanwhile.
        drop();
      }
    },
    async create(tenantId: string): Promise<DataKey> {
      newestOf(await tenants.current(tenantId));
      const { id, key } = await pools.take(tenantId);
      // What was just written is likely to be read next.
      cache.add(tenantId, id, ownBuffer(Buffer.from(key)));
      return { id, key };
    },
    async use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>> {
      const { state } = await tenants.current(tenantId);
      const cached = state === 'living' ? cache.get(tenantId, keyId) : undefined;
      return cached === undefined ? useStored(tenantId, keyId, use) : { state: 'open', value: use(cached) };
    },
    async destroy(ended: readonly EndedKey[]): Promise<number> {
      for (const { keyId } of ended) cache.drop(keyId);
      try {
        return await dataKeys.destroy(ended);
      } finally {
        // A read that began before the destruction may have cached the key once more.
        for (const { keyId } of ended) cache.drop(keyId);
      }
    },
    made: (afterSequence, madeBefore, limit) => dataKeys.made(afterSequence, madeBefore, limit),
    rotation: mongoKeyRotation({
      ...{ connection, roots, dataKeys, clock, wrapperFor },
      freshTenant: tenants.fresh,
      addWrapping: tenants.addWrapping,
    }),
    fates: (keyIds) => dataKeys.fates(keyIds),
    signingKey,
    async checkpoint(name: KeyRingReader): Promise<number> {
      const found = await connection.call((db) => keyCollections.meta(db).findOne({ _id: name }));
      return Number(found?.value ?? 0);
    },
    async saveCheckpoint(name: KeyRingReader, value: number): Promise<void> {
      await connection.call((db) =>
        keyCollections.meta(db).updateOne({ _id: name }, { $set: { value } }, { upsert: true }),
      );
    },
    async close(): Promise<void> {
      const ended = await pools.close();
      cache.close();
      await dataKeys.destroy(ended).catch((error: unknown) => {
        // They are orphans then, and the search for orphans finds them.
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    },
  };
}

function newestOf({ state, newest }: OpenTenant): NonNullable<OpenTenant['newest']> {
  if (state === 'destroyed') throw new StoreUnavailable('key store', 'tenant_destroyed');
  if (newest === null) throw new MongoBroken('the key store lacks the keys of a tenant: restore it from a backup.');
  return newest;
}
