import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../ports/clock.js';
import type { ChainLink } from '../../../ports/event-chain.js';
import {
  type DataKey,
  directoryName,
  type EndedKey,
  type KeyRevision,
  type KeyRing,
  type KeyRingReader,
  type KeyUse,
  type LogMemory,
  type MadeKey,
} from '../../../ports/key-ring.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { openDataKey, wrapDataKey, wrapsMax } from '../../key-ring/data-key.js';
import { createKeyCache, type OpenKey } from '../../key-ring/key-cache.js';
import { createKeyPools } from '../../key-ring/key-pools.js';
import { ownBuffer, randomKey } from '../../key-ring/random-key.js';
import { newRootCheck, passesRootCheck } from '../../key-ring/root-check.js';
import type { RootKeys } from '../../key-ring/root-keys.js';
import { createTraceUses, type TraceUseLimits } from '../../key-ring/trace-uses.js';
import { integrityKeysOf, signingKeyOf } from '../../key-ring/vault-keys.js';
import { StoreBroken } from '../database/database-error.js';
import { never, noRevision } from '../database/keys-schema.js';
import { logMemoryBytes, logMemoryIn } from '../database/log-memory.js';
import { numberBytes, numberIn } from '../database/number-bytes.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { uuidBytes, uuidText } from '../database/uuid-bytes.js';
import type { Writer } from '../writer/writer.js';
import { createGenerationKeys } from './generation-keys.js';
import { sqliteKeyRotation } from './sqlite-key-rotation.js';
import { createTenantKeys } from './tenant-keys.js';
import { createVaultKey } from './vault-key.js';

type StoredKey = {
  readonly tenant_key: Buffer;
  readonly destroyed_at: number;
  readonly revision: Buffer;
  readonly wrapped: Buffer;
};
type MadeRow = { readonly sequence: number; readonly id: Buffer; readonly log_head: number };

/**
 * Implements `KeyRing` on `keys.db`. Reads run on the calling thread as single statements, so no read transaction
 * outlives a call. All writes go to the writer. `newestLink` returns the newest link of the log, whose position is that
 * of its newest event.
 */
export function sqliteKeyRing(
  database: SqliteDatabase,
  writer: Writer,
  roots: RootKeys,
  clock: Clock,
  newestLink: () => ChainLink | null,
  traceLimits: TraceUseLimits | 'seals_none' = {},
): KeyRing & { forgetAll(): void; close(): Promise<void> } {
  const traceUses = createTraceUses(reserveTraces, traceLimits === 'seals_none' ? {} : traceLimits);
  const tenants = createTenantKeys(database, roots, traceUses);
  const generations = createGenerationKeys(database, writer, roots);
  const vaultKeyDeps = { database, writer, roots, now: () => clock.now() };
  const signingKey = createVaultKey(vaultKeyDeps, 'audit-signing', signingKeyOf);
  const integrityKeys = createVaultKey(vaultKeyDeps, 'integrity', integrityKeysOf);
  const cache = createKeyCache();
  const pools = createKeyPools(makeBlock, () => clock.now());
  const byId = database.prepare('SELECT tenant_key, destroyed_at, revision, wrapped FROM data_keys WHERE id = ?');
  const madeAfter = database.prepare(
    `SELECT sequence, id, log_head FROM data_keys
     WHERE sequence > ? AND made_at < ? AND destroyed_at = ${never} ORDER BY sequence LIMIT ?`,
  );
  const revisionOf = database.prepare('SELECT revision FROM directory_revisions WHERE kind = ? AND id = ?').pluck();
  const metaOf = database.prepare('SELECT value FROM meta WHERE name = ?').pluck();

  /** Not atomic, and need not be: one process has the file and requests one block of a tenant at a time. */
  async function reserveTraces(tenantId: string, count: number): Promise<number> {
    const name = `traces.${tenantId}`;
    const stored = reading(() => metaOf.get(name) as Buffer | undefined, 'keys.db');
    const used = stored === undefined ? 0 : numberIn(stored);
    await writer.request('save_meta', { name, value: numberBytes(used + count) });
    return used;
  }

  /** Returns the id of the newest wrapping key of a tenant, with room for `wraps` more wraps. */
  async function wrapperFor(tenantId: string, wraps: number): Promise<string> {
    const newest = tenants.newestWrapping(tenantId);
    if (newest === null || newest.wraps + wraps <= wrapsMax) return newest?.id ?? '';
    await roots.wrapping((rootKey) =>
      writer.request('insert_tenant_keys', [tenants.make(rootKey, tenantId, 'wrapping', clock.now())]),
    );
    tenants.rotated(tenantId);
    return wrapperFor(tenantId, wraps);
  }

  async function makeBlock(tenantId: string, size: number): Promise<DataKey[]> {
    const tenantKeyId = await wrapperFor(tenantId, size);
    // Must not await from here to the last wrap: destroying the tenant zeroes the key.
    const wrappingKey = tenants.wrappingKey(tenantId, tenantKeyId);
    if (wrappingKey === 'destroyed' || (wrappingKey === null && tenants.areDestroyed(tenantId))) {
      throw new StoreUnavailable('keys.db', 'tenant_destroyed');
    }
    if (wrappingKey === null) throw new StoreBroken('keys.db lacks the keys of a tenant: restore it from a backup.');
    const keys = Array.from({ length: size }, () => ({ id: randomUUID(), key: randomKey() }));
    const rows = keys.map(({ id, key }) => ({
      id,
      wrapped: wrapDataKey(wrappingKey, key, { tenantId, tenantKeyId, keyId: id }),
    }));
    const input = { tenantKeyId, madeAt: clock.now(), link: newestLink(), keys: rows };
    await writer.request('insert_data_keys', input);
    return keys;
  }

  function open(tenantId: string, keyId: string): OpenKey | 'destroyed' | 'missing' {
    const cached = cache.get(tenantId, keyId);
    if (cached !== undefined) return cached;
    const row = reading(() => byId.get(uuidBytes(keyId)) as StoredKey | undefined, 'keys.db');
    if (row === undefined) return 'missing';
    if (row.destroyed_at !== never) return 'destroyed';
    const tenantKeyId = uuidText(row.tenant_key);
    const wrappingKey = tenants.wrappingKey(tenantId, tenantKeyId);
    if (wrappingKey === 'destroyed') return 'destroyed';
    const place = { tenantId, tenantKeyId, keyId };
    const key = wrappingKey === null ? null : openDataKey(wrappingKey, row.wrapped, place);
    if (key === null) return 'missing';
    const revision = row.revision.equals(noRevision) ? null : numberIn(row.revision);
    cache.add(tenantId, keyId, key, revision);
    return { key, revision };
  }

  /** Updates the open keys. Only this process changes keys, so the cache stays current. */
  function noteOpen(advanced: readonly KeyRevision[]): void {
    for (const { keyId, revision } of advanced) cache.advance(keyId, revision);
  }

  /** Returns null if the log cannot be read: that must not make a destruction fail. */
  function knownLink(): ChainLink | null {
    try {
      return newestLink();
    } catch {
      return null;
    }
  }

  function dropTenant(tenantId: string): void {
    tenants.drop(tenantId);
    generations.dropTenant(tenantId);
    cache.dropTenant(tenantId);
    pools.drop(tenantId);
  }

  return {
    async createTenant(tenantId: string): Promise<void> {
      await roots.wrapping((rootKey) =>
        writer.request(
          'insert_tenant_keys',
          (['identity', 'wrapping'] as const).map((purpose) => tenants.make(rootKey, tenantId, purpose, clock.now())),
        ),
      );
    },
    async tenantKeys(tenantId) {
      const subkeys = tenants.subkeys(tenantId);
      const reserved = subkeys === null || traceLimits === 'seals_none' ? null : traceUses.ready(tenantId);
      if (reserved !== null) await reserved;
      return subkeys;
    },
    async searchKey(tenantId, generation) {
      const subkeys = tenants.subkeys(tenantId);
      return subkeys === null ? null : generations.searchKey(generation, tenantId, subkeys.names);
    },
    createGeneration: () => generations.create(clock.now()),
    generations: async () => generations.living(),
    async destroyGeneration(generation) {
      generations.dropGeneration(generation);
      try {
        await writer.request('destroy_generation_key', { generation, at: clock.now() });
      } finally {
        // Drops what a concurrent read cached again.
        generations.dropGeneration(generation);
      }
    },
    async destroyTenant(tenantId: string, eventId: string): Promise<number> {
      dropTenant(tenantId);
      try {
        return await writer.request('destroy_tenant_keys', { tenantId, eventId, at: clock.now() });
      } finally {
        // Drops what a concurrent read cached again.
        dropTenant(tenantId);
      }
    },
    async create(tenantId: string): Promise<DataKey> {
      const { id, key } = await pools.take(tenantId);
      // A value that was just written is likely to be read next.
      cache.add(tenantId, id, ownBuffer(Buffer.from(key)), null);
      return { id, key };
    },
    async use<T>(tenantId: string, keyId: string, use: (key: Buffer) => T): Promise<KeyUse<T>> {
      const opened = open(tenantId, keyId);
      if (typeof opened === 'string') return { state: opened };
      return { state: 'open', value: use(opened.key), revision: opened.revision };
    },
    async destroy(ended: readonly EndedKey[], advanced: readonly KeyRevision[] = []): Promise<number> {
      for (const { keyId } of ended) cache.drop(keyId);
      noteOpen(advanced);
      try {
        return await writer.request('destroy_keys', { ended, advanced, at: clock.now(), link: knownLink() });
      } finally {
        noteOpen(advanced);
        // A read that began before the destruction may have cached the key again. The key is dropped also when the
        // writer responds "not yet", because it is overwritten in that case, too.
        for (const { keyId } of ended) cache.drop(keyId);
      }
    },
    async advance(advanced) {
      noteOpen(advanced);
      try {
        await writer.request('advance_keys', advanced);
      } finally {
        // A key that a concurrent read opened may have an older revision.
        noteOpen(advanced);
      }
    },
    async forgetRevisions() {
      await writer.request('forget_revisions', null);
      cache.clear();
    },
    async noteDirectory(revisions) {
      const noted = revisions.map(({ kind, id, revision }) => ({ kind, id, revision }));
      await writer.request('note_directory', noted);
    },
    async directoryRevisions(records) {
      const noted = new Map<string, number>();
      for (const record of records) {
        const revision = reading(() => revisionOf.get(record.kind, record.id) as number | undefined, 'keys.db');
        if (revision !== undefined) noted.set(directoryName(record), revision);
      }
      return noted;
    },
    async made(afterSequence: number, madeBefore: number, limit: number): Promise<readonly MadeKey[]> {
      const rows = reading(() => madeAfter.all(afterSequence, madeBefore, limit) as MadeRow[], 'keys.db');
      return rows.map(({ sequence, id, log_head }) => ({ sequence, keyId: uuidText(id), logHead: log_head }));
    },
    async keyStatuses(keyIds) {
      return keyIds.flatMap((keyId) => {
        const row = reading(() => byId.get(uuidBytes(keyId)) as StoredKey | undefined, 'keys.db');
        if (row === undefined) return [];
        return [{ keyId, destroyedAt: row.destroyed_at === never ? null : row.destroyed_at }];
      });
    },
    signingKey,
    integrityKeys,
    async checkpoint(name: KeyRingReader): Promise<number> {
      const value = reading(() => metaOf.get(name) as Buffer | undefined, 'keys.db');
      return value === undefined ? 0 : numberIn(value);
    },
    async saveCheckpoint(name: KeyRingReader, value: number): Promise<void> {
      await writer.request('save_meta', { name, value: numberBytes(value) });
    },
    async logMemory(): Promise<LogMemory> {
      return logMemoryIn(reading(() => metaOf.get('log_memory') as Buffer | undefined, 'keys.db'));
    },
    async rememberLog(memory: LogMemory): Promise<void> {
      await writer.request('remember_log', memory);
    },
    async replaceLogMemory(memory: LogMemory): Promise<void> {
      await writer.request('save_meta', { name: 'log_memory', value: logMemoryBytes(memory) });
    },
    /** Forgets every open key. A caller that reads many keys calls this after each batch. */
    forgetAll(): void {
      tenants.forgetAll();
      generations.forgetAll();
      cache.clear();
    },
    rotation: sqliteKeyRotation({ database, writer, roots, tenants, clock, wrapperFor }),
    async close(): Promise<void> {
      const ended = await pools.close();
      cache.close();
      if (ended.length === 0) return;
      const input = { ended, advanced: [], at: clock.now(), link: knownLink() };
      await writer.request('destroy_keys', input).catch((error: unknown) => {
        // The keys are then orphans, and the search for orphans finds them.
        if (!(error instanceof StoreUnavailable)) throw error;
      });
    },
  };
}

/**
 * Returns the root key that wraps the keys. A new key store takes the first of `rootKeys`, and stores its check. Throws
 * StoreBroken if none of `rootKeys` fits.
 */
export async function findRootKey(
  database: SqliteDatabase,
  writer: Writer,
  rootKeys: readonly [Buffer, ...Buffer[]],
): Promise<Buffer> {
  const find = database.prepare(`SELECT value FROM meta WHERE name = 'root_check'`).pluck();
  const stored = reading(() => find.get() as Buffer | undefined, 'keys.db');
  const [first] = rootKeys;
  if (stored === undefined) {
    await writer.request('save_meta', { name: 'root_check', value: newRootCheck(first) });
    return first;
  }
  const found = rootKeys.find((rootKey) => passesRootCheck(rootKey, stored));
  if (found !== undefined) return found;
  throw new StoreBroken('the root key is not the one that keys.db was created with. Name the right root key file.');
}
