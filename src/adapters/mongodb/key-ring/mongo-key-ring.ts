import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../ports/clock.js';
import {
  type DataKey,
  directoryName,
  type EndedKey,
  type KeyRevision,
  type KeyRing,
  type KeyRingReader,
  type KeyUse,
  type LogMemory,
  noEvent,
} from '../../../ports/key-ring.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { openDataKey, wrapDataKey, wrapsMax } from '../../key-ring/data-key.js';
import { createKeyCache, type OpenKey } from '../../key-ring/key-cache.js';
import { createKeyPools } from '../../key-ring/key-pools.js';
import { ownBuffer, randomKey } from '../../key-ring/random-key.js';
import { createTraceUses, type TraceUseLimits } from '../../key-ring/trace-uses.js';
import { integrityKeysOf, signingKeyOf } from '../../key-ring/vault-keys.js';
import { MongoBroken, type MongoConnection } from '../connection.js';
import { keyCollections, logMemories } from './key-collections.js';
import { createMongoDataKeys } from './mongo-data-keys.js';
import { createMongoGenerationKeys } from './mongo-generation-keys.js';
import { mongoKeyRotation } from './mongo-key-rotation.js';
import type { MongoRootKeys } from './mongo-root-keys.js';
import { createMongoTenantKeys, type OpenTenant } from './mongo-tenant-keys.js';
import { createMongoVaultKey } from './mongo-vault-key.js';

/**
 * Returns `KeyRing` on a MongoDB database of its own, for many processes. Each use of a cached data key asks the store
 * whether the key was destroyed and which revision was noted of it (docs/design.md, "Keys"). The keys of a tenant are
 * read again after a second. `logHead` returns the position of the newest event.
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
  const vaultKeyDeps = { connection, roots, clock };
  const signingKey = createMongoVaultKey(vaultKeyDeps, 'audit-signing', signingKeyOf);
  const integrityKeys = createMongoVaultKey(vaultKeyDeps, 'integrity', integrityKeysOf);
  const cache = createKeyCache();
  const pools = createKeyPools(makeBlock, () => clock.now());

  /** Reserves a number of sealed traces of a tenant. All processes share one counter. */
  async function reserveTraces(tenantId: string, count: number): Promise<number> {
    return (await dataKeys.countWraps(`traces.${tenantId}`, count)) - count;
  }

  /** Returns the newest wrapping key of a tenant with room for this many wraps, and counts them. */
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
      // Record the log position after which the keys were created (ADR 32).
      await connection.call((db) =>
        keyCollections.meta(db).updateOne({ _id: 'log' }, { $max: { value: head } }, { upsert: true }),
      );
      await dataKeys.insert(id, head, rows);
      if (!(await tenants.isRetiring(id))) return keys;
      // A rotation may have missed these keys and destroys the key that wraps them.
      for (const { key } of keys) key.fill(0);
      await dataKeys.destroy(keys.map(({ id: keyId }) => ({ keyId, eventId: noEvent })));
    }
  }

  /**
   * Returns the tenant with this wrapping key. The cached tenant may be a second old, so reads it again if it lacks the
   * key.
   */
  async function tenantWith(tenantId: string, wrappingKeyId: string): Promise<OpenTenant> {
    const tenant = await tenants.current(tenantId);
    return tenant.wrapping.has(wrappingKeyId) ? tenant : tenants.fresh(tenantId);
  }

  async function read(tenantId: string, keyId: string, before = ''): Promise<OpenKey | 'destroyed' | 'missing'> {
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
    const key = wrappingKey === undefined ? null : openDataKey(wrappingKey, row.wrapped, place);
    return key === null ? 'missing' : { key, revision: row.revision ?? null };
  }

  /** Runs `use` with a key from the store. The key is cached afterwards unless it was destroyed meanwhile. */
  async function useStored<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>> {
    const keep = cache.reading(tenantId, keyId);
    let key: Buffer | null = null;
    try {
      const found = await read(tenantId, keyId);
      if (typeof found === 'string') return { state: found };
      key = found.key;
      return { state: 'open', value: use(key), revision: found.revision };
    } finally {
      if (!keep(key)) key?.fill(0);
    }
  }

  /**
   * Runs `use` with a cached key. Returns null if the key is not cached or was destroyed. Asks the store first, because
   * another process may have destroyed the key or noted a newer revision.
   */
  async function useCached<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T> | null> {
    if (cache.get(tenantId, keyId) === undefined) return null;
    const noted = await dataKeys.noted(keyId);
    if (noted === null || noted.destroyed_at !== null) cache.drop(keyId);
    // The key may have been dropped from the cache meanwhile.
    const cached = cache.get(tenantId, keyId);
    if (noted === null || cached === undefined) return null;
    return { state: 'open', value: use(cached.key), revision: noted.revision ?? null };
  }

  /** Drops the cached keys of a tenant whose keys were destroyed. */
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
        // A concurrent read may have cached the keys again.
        drop();
      }
    },
    async create(tenantId: string): Promise<DataKey> {
      newestOf(await tenants.current(tenantId));
      const { id, key } = await pools.take(tenantId);
      // A token that was just written is likely to be read next.
      cache.add(tenantId, id, ownBuffer(Buffer.from(key)), null);
      return { id, key };
    },
    async use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>> {
      const { state } = await tenants.current(tenantId);
      const used = state === 'living' ? await useCached(tenantId, keyId, use) : null;
      return used ?? useStored(tenantId, keyId, use);
    },
    async destroy(ended: readonly EndedKey[], advanced: readonly KeyRevision[] = []): Promise<number> {
      for (const { keyId } of ended) cache.drop(keyId);
      try {
        const [destroyed] = await Promise.all([dataKeys.destroy(ended), dataKeys.advance(advanced)]);
        return destroyed;
      } finally {
        // A read that began before the destruction may have cached the key once more.
        for (const { keyId } of ended) cache.drop(keyId);
      }
    },
    advance: (advanced) => dataKeys.advance(advanced),
    async forgetRevisions() {
      // The database user of the key store may not remove documents. The revision -1 has the same effect as no
      // document.
      await connection.call((db) => keyCollections.directoryRevisions(db).updateMany({}, { $set: { revision: -1 } }));
      const noted = { revision: { $exists: true } };
      await connection.call((db) => keyCollections.dataKeys(db).updateMany(noted, { $unset: { revision: true } }));
    },
    async noteDirectory(revisions) {
      const updates = revisions.map((record) => ({
        updateOne: {
          filter: { _id: directoryName(record) },
          update: { $max: { revision: record.revision } },
          upsert: true,
        },
      }));
      if (updates.length === 0) return;
      await connection.call((db) => keyCollections.directoryRevisions(db).bulkWrite(updates, { ordered: false }));
    },
    async directoryRevisions(records) {
      const asked = { _id: { $in: records.map(directoryName) } };
      const found = await connection.call((db) => keyCollections.directoryRevisions(db).find(asked).toArray());
      return new Map(found.map(({ _id, revision }) => [_id, revision]));
    },
    made: (afterSequence, madeBefore, limit) => dataKeys.made(afterSequence, madeBefore, limit),
    rotation: mongoKeyRotation({
      ...{ connection, roots, dataKeys, clock, wrapperFor },
      freshTenant: tenants.fresh,
      addWrapping: tenants.addWrapping,
    }),
    keyStatuses: (keyIds) => dataKeys.keyStatuses(keyIds),
    signingKey,
    integrityKeys,
    async checkpoint(name: KeyRingReader): Promise<number> {
      const found = await connection.call((db) => keyCollections.meta(db).findOne({ _id: name }));
      return Number(found?.value ?? 0);
    },
    async saveCheckpoint(name: KeyRingReader, value: number): Promise<void> {
      await connection.call((db) =>
        keyCollections.meta(db).updateOne({ _id: name }, { $set: { value } }, { upsert: true }),
      );
    },
    async logMemory(): Promise<LogMemory> {
      const found = await connection.call((db) =>
        keyCollections
          .logMemory(db)
          .find({ _id: { $in: [...logMemories] } })
          .toArray(),
      );
      const checkpoint = found.find(({ _id }) => _id === 'log_checkpoint')?.checkpoint ?? null;
      const link = found.find(({ _id }) => _id === 'log_link')?.link ?? null;
      return { checkpoint, link };
    },
    rememberLog: (memory: LogMemory) => saveLogMemory(connection, memory),
    async replaceLogMemory(memory: LogMemory): Promise<void> {
      // The database user of the key store may not remove documents.
      const nothing = { $set: { checkpoint: null, link: null } };
      await connection.call((db) =>
        keyCollections.logMemory(db).updateMany({ _id: { $in: [...logMemories] } }, nothing),
      );
      await saveLogMemory(connection, memory);
    },
    async close(): Promise<void> {
      const ended = await pools.close();
      cache.close();
      await dataKeys.destroy(ended).catch((error: unknown) => {
        // The keys are then orphans, and the search for orphans finds them.
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    },
  };
}

/** Saves what is newer. MongoDB compares documents by their first field, so the larger number or position stays. */
async function saveLogMemory({ call }: MongoConnection, { checkpoint, link }: LogMemory): Promise<void> {
  if (checkpoint !== null) {
    const { number, hash, signature } = checkpoint;
    const newer = { $max: { checkpoint: { number, hash, signature } } };
    await call((db) => keyCollections.logMemory(db).updateOne({ _id: 'log_checkpoint' }, newer, { upsert: true }));
  }
  if (link !== null) {
    const { position, count, hash } = link;
    const newer = { $max: { link: { position, count, hash: Buffer.from(hash) } } };
    await call((db) => keyCollections.logMemory(db).updateOne({ _id: 'log_link' }, newer, { upsert: true }));
    await call((db) =>
      keyCollections.meta(db).updateOne({ _id: 'log' }, { $max: { value: position } }, { upsert: true }),
    );
  }
}

function newestOf({ state, newest }: OpenTenant): NonNullable<OpenTenant['newest']> {
  if (state === 'destroyed') throw new StoreUnavailable('key store', 'tenant_destroyed');
  if (newest === null) throw new MongoBroken('the key store lacks the keys of a tenant: restore it from a backup.');
  return newest;
}
