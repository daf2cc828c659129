import type { ChainLink } from '../../../ports/event-chain.js';
import type { DirectoryRevision, KeyRevision, LogMemory } from '../../../ports/key-store.js';
import { never, noRevision } from '../database/keys-schema.js';
import { logMemoryBytes, logMemoryIn, newerMemory } from '../database/log-memory.js';
import { numberBytes } from '../database/number-bytes.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { noEventBytes, uuidBytes } from '../database/uuid-bytes.js';
import type { TenantKeyRow, WriterOperations } from './protocol.js';

/** The keys destroyed by a request. `destroyedNow` contains the keys that had not been destroyed before the request. */
export type Destroyed = { readonly keyIds: readonly string[]; readonly destroyedNow: readonly string[] };

/**
 * Creates the operations on `keys.db`. Each call must run inside a savepoint of a group's transaction, and must not
 * iterate over a statement. `newestLink` returns the newest link of the event log. The key store records this link
 * whenever data keys are created or destroyed.
 */
export function createKeyOperations(database: SqliteDatabase, newestLink: () => ChainLink | null) {
  const insertTenantKey = database.prepare(
    `INSERT INTO tenant_keys (id, tenant, purpose, made_at, destroyed_at, destroyed_by, wrapped)
     SELECT @id, @tenant, @purpose, @madeAt, ${never}, @noEvent, @wrapped
     WHERE NOT EXISTS (
       SELECT 1 FROM tenant_keys WHERE tenant = @tenant AND purpose = 'identity' AND destroyed_at <> ${never}
     ) OR EXISTS (
       SELECT 1 FROM tenant_keys WHERE tenant = @tenant AND purpose = 'identity' AND destroyed_at = ${never}
     )`,
  );
  const livingTenantKey = database.prepare(`SELECT 1 FROM tenant_keys WHERE id = ? AND destroyed_at = ${never}`);
  const tenantKeyIds = database.prepare('SELECT id FROM tenant_keys WHERE tenant = ?').pluck();
  const destroyTenantKey = database.prepare(
    `UPDATE tenant_keys SET wrapped = zeroblob(length(wrapped)), destroyed_at = ?, destroyed_by = ?
     WHERE id = ? AND destroyed_at = ${never}`,
  );
  const countWraps = database.prepare(
    `INSERT INTO wraps (tenant_key, count) VALUES (?, ?)
     ON CONFLICT (tenant_key) DO UPDATE SET count = count + excluded.count`,
  );
  const insertGenerationKey = database.prepare(
    `INSERT INTO generation_keys (generation, made_at, destroyed_at, wrapped) VALUES (?, ?, ${never}, ?)`,
  );
  const destroyGenerationKey = database.prepare(
    `UPDATE generation_keys SET wrapped = zeroblob(length(wrapped)), destroyed_at = ?
     WHERE generation = ? AND destroyed_at = ${never}`,
  );
  const insertDataKey = database.prepare(
    `INSERT INTO data_keys (id, tenant_key, made_at, log_head, destroyed_at, destroyed_by, revision, wrapped)
     VALUES (?, ?, ?, ?, ${never}, ?, ?, ?)`,
  );
  const destroyDataKey = database.prepare(
    `UPDATE data_keys SET wrapped = zeroblob(length(wrapped)), destroyed_at = ?, destroyed_by = ?
     WHERE id = ? AND destroyed_at = ${never}`,
  );
  const advanceDataKey = database.prepare(
    `UPDATE data_keys SET revision = @revision
     WHERE id = @id AND destroyed_at = ${never} AND (revision < @revision OR revision = @noRevision)`,
  );
  const forgetKeyRevisions = database.prepare(
    'UPDATE data_keys SET revision = @noRevision WHERE revision <> @noRevision',
  );
  const forgetDirectory = database.prepare('DELETE FROM directory_revisions');
  const noteRevision = database.prepare(
    `INSERT INTO directory_revisions (kind, id, revision) VALUES (?, ?, ?)
     ON CONFLICT (kind, id) DO UPDATE SET revision = excluded.revision WHERE excluded.revision > revision`,
  );
  const saveMeta = database.prepare(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );

  const noteLog = database.prepare(
    `INSERT INTO meta (name, value) VALUES ('log', ?)
     ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
  );
  const findMemory = database.prepare(`SELECT value FROM meta WHERE name = 'log_memory'`).pluck();

  /**
   * Records the checkpoint and the link of the log, unless newer ones are already recorded. The vault later rejects a
   * log that ends before this link or that contains a different link at the same position.
   */
  function remember(memory: LogMemory): void {
    const before = logMemoryIn(findMemory.get() as Buffer | undefined);
    // The log does not grow while a group of requests is written to `keys.db`. The first request in the group therefore
    // records the link for the whole group, and the other requests skip this work.
    if (memory.checkpoint === null && before.link?.position === memory.link?.position) return;
    saveMeta.run('log_memory', logMemoryBytes(newerMemory(before, memory)));
    if (memory.link !== null) noteLog.run(numberBytes(memory.link.position));
  }

  function rememberHead(): ChainLink | null {
    const link = headLink();
    remember({ checkpoint: null, link });
    return link;
  }

  /** Returns the newest link, or null if the log cannot be read. A key must be destroyed even in that case. */
  function headLink(): ChainLink | null {
    try {
      return newestLink();
    } catch {
      return null;
    }
  }

  function advance(advanced: readonly KeyRevision[]): void {
    for (const { keyId, revision } of advanced) {
      advanceDataKey.run({ id: uuidBytes(keyId), revision: numberBytes(revision), noRevision });
    }
  }

  return {
    /**
     * Inserts tenant keys. If a tenant's keys have been destroyed, inserts no new keys for that tenant. A destroyed
     * identity key counts only if all of the tenant's identity keys are destroyed (`identityKeyOf`).
     */
    insert_tenant_keys(rows: readonly TenantKeyRow[]): null {
      for (const row of rows) insertTenantKey.run({ ...row, noEvent: noEventBytes });
      return null;
    },
    insert_generation_key({ generation, madeAt, wrapped }: WriterOperations['insert_generation_key']['input']): null {
      insertGenerationKey.run(generation, madeAt, wrapped);
      return null;
    },
    destroy_generation_key({ generation, at }: WriterOperations['destroy_generation_key']['input']): Destroyed {
      const keyId = `generation ${generation}`;
      return { keyIds: [keyId], destroyedNow: destroyGenerationKey.run(at, generation).changes > 0 ? [keyId] : [] };
    },
    insert_data_keys({ tenantKeyId, madeAt, keys }: WriterOperations['insert_data_keys']['input']): boolean {
      // Threat: the tenant key is destroyed after it was chosen to wrap these data keys. The data keys could then never
      // be unwrapped.
      if (livingTenantKey.get(tenantKeyId) === undefined) return false;
      countWraps.run(tenantKeyId, keys.length);
      const tenantKey = uuidBytes(tenantKeyId);
      const logHead = rememberHead()?.position ?? 0;
      for (const { id, wrapped } of keys) {
        insertDataKey.run(uuidBytes(id), tenantKey, madeAt, logHead, noEventBytes, noRevision, wrapped);
      }
      return true;
    },
    destroy_keys({ ended, advanced, at }: WriterOperations['destroy_keys']['input']): Destroyed {
      rememberHead();
      advance(advanced);
      const destroyedNow = ended
        .filter(({ keyId, eventId }) => destroyDataKey.run(at, uuidBytes(eventId), uuidBytes(keyId)).changes > 0)
        .map(({ keyId }) => keyId);
      return { keyIds: ended.map(({ keyId }) => keyId), destroyedNow };
    },
    advance_keys(advanced: readonly KeyRevision[]): null {
      advance(advanced);
      return null;
    },
    note_directory(revisions: readonly DirectoryRevision[]): null {
      for (const { kind, id, revision } of revisions) noteRevision.run(kind, id, revision);
      return null;
    },
    forget_revisions(): null {
      forgetKeyRevisions.run({ noRevision });
      forgetDirectory.run();
      return null;
    },
    /** Overwrites a tenant's keys in place. After that, the keys that they wrapped can no longer be unwrapped. */
    destroy_tenant_keys({ tenantId, eventId, at }: WriterOperations['destroy_tenant_keys']['input']): Destroyed {
      const keyIds = tenantKeyIds.all(tenantId) as string[];
      const destroyedNow = keyIds.filter((id) => destroyTenantKey.run(at, uuidBytes(eventId), id).changes > 0);
      return { keyIds, destroyedNow };
    },
    remember_log(memory: LogMemory): null {
      remember(memory);
      return null;
    },
    save_meta({ name, value }: WriterOperations['save_meta']['input']): null {
      saveMeta.run(name, value);
      return null;
    },
  };
}
