import { type Clock, earliestNow } from '../../ports/clock.js';
import {
  directoryName,
  type KeyRecords,
  type KeyStore,
  type RotationRows,
  type StoredTenantKey,
  type TenantKeyName,
} from '../../ports/key-store.js';
import { StoreBroken } from './database/database-error.js';
import { never, noRevision } from './database/keys-schema.js';
import { logMemoryBytes, logMemoryIn } from './database/log-memory.js';
import { numberBytes, numberIn } from './database/number-bytes.js';
import type { SqliteDatabase } from './database/open-database.js';
import { reading } from './database/reading.js';
import { uuidBytes, uuidOfHex, uuidText } from './database/uuid-bytes.js';
import type { Writer } from './writer/writer.js';

type Deps = {
  readonly database: SqliteDatabase;
  readonly writer: Writer;
  readonly clock: Clock;
};

type TenantKeyRow = TenantKeyName & {
  readonly number: number;
  readonly destroyed_at: number;
  readonly wrapped: Buffer;
};
type DataKeyRow = {
  readonly tenant_key: string;
  readonly destroyed_at: number;
  readonly revision: string;
  readonly wrapped: Buffer;
};
type LivingRow = {
  readonly sequence: number;
  readonly id: Buffer;
  readonly tenant_key: Buffer;
  readonly wrapped: Buffer;
};
type MadeRow = {
  readonly sequence: number;
  readonly id: Buffer;
  readonly made_at: number;
  readonly log_head: number;
};

const read = <T>(run: () => T): T => reading(run, 'keys.db');

/**
 * Implements `KeyStore` on `keys.db`. Each read is a single statement on the calling thread, so no read transaction
 * stays open after a call. All writes go to the writer thread. Only one process uses the file, so no other process can
 * replace the root key.
 */
export function sqliteKeyStore(deps: Deps): KeyStore {
  const { database, writer, clock } = deps;
  const metaOf = metaReader(database);
  const begunRotation = rotationMark(metaOf);
  // Uses the rowid as the key's number, because rowids increase in the order of insertion. Creation times can be out of
  // order if the clock has been set back.
  const keysOfTenant = database.prepare(
    `SELECT id, tenant, purpose, rowid AS number, destroyed_at, wrapped FROM tenant_keys
     WHERE tenant = ? ORDER BY rowid`,
  );
  const tenantKeyOf = database.prepare(
    'SELECT id, tenant, purpose, rowid AS number, destroyed_at, wrapped FROM tenant_keys WHERE id = ?',
  );
  const wrapsOf = database.prepare('SELECT count FROM wraps WHERE tenant_key = ?').pluck();
  const keyOfGeneration = database
    .prepare(`SELECT wrapped FROM generation_keys WHERE generation = ? AND destroyed_at = ${never}`)
    .pluck();
  const livingGenerations = database
    .prepare(`SELECT generation FROM generation_keys WHERE destroyed_at = ${never} ORDER BY generation`)
    .pluck();
  const newestGeneration = database.prepare('SELECT max(generation) FROM generation_keys').pluck();
  // SQLite returns short values as hex, because text takes it a fraction of the time of a buffer.
  const dataKey = database.prepare(
    `SELECT hex(tenant_key) AS tenant_key, destroyed_at, hex(revision) AS revision, wrapped FROM data_keys WHERE id = ?`,
  );

  function findDataKey(keyId: string) {
    const row = read(() => dataKey.get(uuidBytes(keyId)) as DataKeyRow | undefined);
    if (row === undefined) return null;
    const revision = Buffer.from(row.revision, 'hex');
    return {
      tenantKeyId: uuidOfHex(row.tenant_key),
      wrapped: row.destroyed_at === never ? row.wrapped : null,
      revision: revision.equals(noRevision) ? null : numberIn(revision),
    };
  }

  function tenantKeysIn(rows: readonly TenantKeyRow[]): readonly StoredTenantKey[] {
    const lastOld = begunRotation()?.lastRow ?? 0;
    return rows.map(({ destroyed_at, wrapped, ...row }) => ({
      ...row,
      wrapped: destroyed_at === never ? wrapped : null,
      isRetiring: row.purpose === 'wrapping' && row.number <= lastOld,
    }));
  }

  return {
    name: 'keys.db',
    title: 'keys.db',
    isShared: false,
    broken: (problem) => new StoreBroken(problem),
    rootCheck: () => metaOf('root_check') ?? null,
    async createRootCheck(check) {
      await writer.request('save_meta', { name: 'root_check', value: check });
      return check;
    },
    readTenantKeys: (tenantId) => tenantKeysIn(read(() => keysOfTenant.all(tenantId) as TenantKeyRow[])),
    findTenantKeys: (ids) => tenantKeysIn(read(() => ids.flatMap((id) => tenantKeyOf.all(id) as TenantKeyRow[]))),
    async insertTenantKeys(keys) {
      const madeAt = clock.now();
      await writer.request(
        'insert_tenant_keys',
        keys.map(({ id, tenant, purpose, wrapped }) => ({ id, tenant, purpose, madeAt, wrapped })),
      );
      return 'stored';
    },
    destroyTenantKeys: (tenantId, eventId) =>
      writer.request('destroy_tenant_keys', { tenantId, eventId, at: clock.now() }),
    generationKey: (generation) => read(() => keyOfGeneration.get(generation) as Buffer | undefined) ?? null,
    generations: () => read(() => livingGenerations.all() as number[]),
    newestGeneration: () => Number(read(() => newestGeneration.get()) ?? 0),
    async insertGenerationKey(generation, wrapped) {
      await writer.request('insert_generation_key', { generation, madeAt: clock.now(), wrapped });
      return 'stored';
    },
    async destroyGenerationKey(generation) {
      await writer.request('destroy_generation_key', { generation, at: clock.now() });
    },
    dataKey: findDataKey,
    noted: findDataKey,
    countWraps: (tenantKeyId, more) => Number(read(() => wrapsOf.get(tenantKeyId)) ?? 0) + more,
    async insertDataKeys(tenantKeyId, keys) {
      const input = { tenantKeyId, madeAt: clock.now(), keys };
      return (await writer.request('insert_data_keys', input)) ? 'stored' : 'retiring';
    },
    destroyDataKeys: (ended, advanced) => writer.request('destroy_keys', { ended, advanced, at: clock.now() }),
    async advance(advanced) {
      await writer.request('advance_keys', advanced);
    },
    async forgetRevisions() {
      await writer.request('forget_revisions', null);
    },
    /**
     * Reads and then writes the count. These two steps do not have to be atomic, because only one process uses the
     * file, and it makes at most one reservation per tenant at a time.
     */
    async reserveTraces(tenantId, count) {
      const name = `traces.${tenantId}`;
      const stored = metaOf(name);
      const used = stored === undefined ? 0 : numberIn(stored);
      await writer.request('save_meta', { name, value: numberBytes(used + count) });
      return used;
    },
    rotation: sqliteRotationRows(deps),
    records: sqliteKeyRecords(deps),
  };
}

/**
 * The mark that a rotation stores when it begins. `lastRow` is the last row of `tenant_keys` at that moment. A copy of
 * `keys.db` that was made before `at` (ms) contains only keys up to `lastRow`.
 */
type RotationMark = { readonly lastRow: number; readonly at: number };

/**
 * Returns a function that reads the mark of the current rotation from the `rotation` row of `meta`. The function
 * returns null if no rotation has begun. A rotation replaces the wrapping keys in the rows up to `lastRow`.
 */
function rotationMark(metaOf: ReturnType<typeof metaReader>): () => RotationMark | null {
  return () => {
    const value = metaOf('rotation');
    if (value === undefined) return null;
    return { lastRow: numberIn(value), at: numberIn(value.subarray(8)) };
  };
}

function sqliteRotationRows({ database, writer, clock }: Deps): RotationRows {
  const metaOf = metaReader(database);
  const begun = rotationMark(metaOf);
  const lastTenantKey = database.prepare('SELECT max(rowid) FROM tenant_keys').pluck();
  const wrappingKeys = database.prepare(
    `SELECT id, tenant, rowid AS number FROM tenant_keys
     WHERE purpose = 'wrapping' AND destroyed_at = ${never} ORDER BY rowid`,
  );
  const livingDataKeys = database.prepare(`SELECT count(*) FROM data_keys WHERE destroyed_at = ${never}`).pluck();
  const dataKeysAfter = database.prepare(
    `SELECT sequence, id, tenant_key, wrapped FROM data_keys
     WHERE sequence > ? AND destroyed_at = ${never} ORDER BY sequence LIMIT ? + 0`,
  );
  const livingTenantKeys = database.prepare(
    `SELECT id, tenant, purpose, rowid AS number, wrapped FROM tenant_keys WHERE destroyed_at = ${never}`,
  );
  const livingGenerations = database.prepare(
    `SELECT generation, wrapped FROM generation_keys WHERE destroyed_at = ${never}`,
  );

  return {
    async begin() {
      if (begun() !== null) return;
      // Reads the clock before reading `lastRow`. Threat: if the clock were read afterwards, a copy of `keys.db` that
      // was made between the two reads could contain newer keys and still be declared void.
      const at = earliestNow(clock);
      const lastRow = Number(read(() => lastTenantKey.get()) ?? 0);
      const value = Buffer.concat([numberBytes(lastRow), numberBytes(at)]);
      await writer.request('save_meta', { name: 'rotation', value });
    },
    wrappingKeys() {
      const lastOld = begun()?.lastRow ?? 0;
      const rows = read(() => wrappingKeys.all() as (Omit<TenantKeyName, 'purpose'> & { readonly number: number })[]);
      return rows.map((row) => ({ ...row, isRetiring: row.number <= lastOld }));
    },
    countLivingDataKeys: () => Number(read(() => livingDataKeys.get())),
    livingDataKeys(afterSequence, limit) {
      const rows = read(() => dataKeysAfter.all(afterSequence, limit) as LivingRow[]);
      const last = rows.at(-1);
      if (last === undefined) return null;
      const keys = rows.map(({ id, tenant_key, wrapped }) => ({
        id: uuidText(id),
        tenantKeyId: uuidText(tenant_key),
        wrapped,
      }));
      return { keys, last: last.sequence };
    },
    async rewrapDataKeys(keys) {
      await writer.request('rewrap_data_keys', keys);
    },
    async replaceRoot({ nextCheck, rewrap }) {
      const lastOld = begun()?.lastRow ?? 0;
      const living = read(
        () => livingTenantKeys.all() as (TenantKeyName & { readonly number: number; readonly wrapped: Buffer })[],
      );
      const isRetired = ({ purpose, number }: (typeof living)[number]) => purpose === 'wrapping' && number <= lastOld;
      const generations = read(() => livingGenerations.all() as { generation: number; wrapped: Buffer }[]);
      const isReplaced = await writer.request('replace_root', {
        ...rewrap(
          living.filter((row) => !isRetired(row)),
          generations,
        ),
        retired: living.filter(isRetired).map(({ id }) => id),
        rootCheck: nextCheck,
        at: clock.now(),
        voidBefore: begun()?.at ?? null,
      });
      return isReplaced ? 'replaced' : 'keys_left';
    },
    async voidBefore() {
      const value = metaOf('copies_void_before');
      return value === undefined ? null : numberIn(value);
    },
    async settle() {
      await writer.request('empty_keys_log', null);
    },
  };
}

function sqliteKeyRecords({ database, writer }: Deps): KeyRecords {
  const metaOf = metaReader(database);
  const statusOf = database.prepare('SELECT destroyed_at FROM data_keys WHERE id = ?').pluck();
  // Without the subquery, SQLite would take the id from the index, which it has just searched for this id.
  const idInRow = database
    .prepare(
      `SELECT (SELECT id FROM data_keys NOT INDEXED WHERE sequence = found.sequence) FROM data_keys AS found
       WHERE id = ?`,
    )
    .pluck();
  const madeAfter = database.prepare(
    `SELECT sequence, id, made_at, log_head FROM data_keys
     WHERE sequence > ? AND made_at < ? AND destroyed_at = ${never} ORDER BY sequence LIMIT ? + 0`,
  );
  const revisionOf = database.prepare('SELECT revision FROM directory_revisions WHERE kind = ? AND id = ?').pluck();

  return {
    async noteDirectory(revisions) {
      const noted = revisions.map(({ kind, id, revision }) => ({ kind, id, revision }));
      await writer.request('note_directory', noted);
    },
    async directoryRevisions(records) {
      const noted = new Map<string, number>();
      for (const record of records) {
        const revision = read(() => revisionOf.get(record.kind, record.id) as number | undefined);
        if (revision !== undefined) noted.set(directoryName(record), revision);
      }
      return noted;
    },
    async made(afterSequence, madeBefore, limit) {
      const rows = read(() => madeAfter.all(afterSequence, madeBefore, limit) as MadeRow[]);
      return rows.map(({ sequence, id, made_at: madeAt, log_head: logHead }) => ({
        sequence,
        keyId: uuidText(id),
        madeAt,
        logHead,
      }));
    },
    async keyStatuses(keyIds) {
      return keyIds.flatMap((keyId) => {
        const destroyedAt = read(() => statusOf.get(uuidBytes(keyId)) as number | undefined);
        return destroyedAt === undefined ? [] : [{ keyId, destroyedAt: destroyedAt === never ? null : destroyedAt }];
      });
    },
    async hasDamagedId(keyId) {
      const id = uuidBytes(keyId);
      const found = read(() => idInRow.get(id) as Buffer | undefined);
      return found !== undefined && !id.equals(found);
    },
    async checkpoint(name) {
      const value = metaOf(name);
      return value === undefined ? 0 : numberIn(value);
    },
    async saveCheckpoint(name, value) {
      await writer.request('save_meta', { name, value: numberBytes(value) });
    },
    logMemory: async () => logMemoryIn(metaOf('log_memory')),
    async rememberLog(memory) {
      await writer.request('remember_log', memory);
    },
    async replaceLogMemory(memory) {
      await writer.request('save_meta', { name: 'log_memory', value: logMemoryBytes(memory) });
    },
  };
}

function metaReader(database: SqliteDatabase): (name: string) => Buffer | undefined {
  const metaOf = database.prepare('SELECT value FROM meta WHERE name = ?').pluck();
  return (name) => read(() => metaOf.get(name) as Buffer | undefined);
}
