import { join } from 'node:path';
import type { KeysToCopy } from '../../../ports/backup.js';
import type { TenantKeyPurpose } from '../../../ports/key-store.js';
import { rotationRefused } from '../../shared/rotation-refused.js';
import { never } from '../database/keys-schema.js';
import { openDatabase, type SqliteDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { uuidText } from '../database/uuid-bytes.js';
import { encodeKeyLine } from './key-line.js';
import { writeLastBackup } from './last-backup.js';

const pageSize = 500;

/**
 * Opens `keys.db` for a backup, and reads it in short steps. A long read would delay every erasure by the service that
 * uses the file. In the backup, the lines with data keys come before the lines with the keys that wrap them.
 */
export function openKeysToCopy(dataDir: string): KeysToCopy {
  const database = openDatabase(join(dataDir, 'keys.db'), 'keys.db', 'reader');
  const meta = database.prepare('SELECT value FROM meta WHERE name = ?').pluck();
  const metaOf = (name: string) => reading(() => meta.get(name) as Buffer | undefined, 'keys.db');
  const rootCheck = metaOf('root_check');
  const searchKeys = searchKeysIn(database);

  /**
   * Throws BackupRefused if a rotation is running or has run since the backup began. Threat: a rotation runs during the
   * backup. Then the copied keys are wrapped under different keys, or under a root key whose copies are destroyed. Such a
   * backup cannot be restored.
   */
  function refuseRotation(): void {
    if (metaOf('rotation') !== undefined) throw rotationRefused('running');
    const check = metaOf('root_check');
    if (check === undefined || rootCheck?.equals(check) !== true) throw rotationRefused('complete');
  }

  return {
    logId: async () => metaOf('log_id')?.toString('utf8') ?? '',
    async *lines() {
      refuseRotation();
      for (const table of tablesOf(database)) {
        for (const row of rowsOf(database, table)) {
          const copied = table.name === 'generation_keys' ? (searchKeys.get(row['generation']) ?? row) : row;
          yield encodeKeyLine({ table: table.name, row: copied });
        }
      }
      refuseRotation();
    },
    expectNotRotated: async () => refuseRotation(),
    async *erased() {
      const ended = `destroyed_at <> ${never}`;
      for (const { id } of rowsInPages<{ readonly id: Buffer }>(database, 'id FROM data_keys', ended)) {
        yield uuidText(id);
      }
      // The living tenants are read first. If a tenant is deleted while the list is written, its wrapping keys are not in
      // the list unless its identity key is.
      const living = new Set<string>();
      const isLiving = `purpose = 'identity' AND destroyed_at = ${never}`;
      const tenantKeys = 'id, tenant, purpose FROM tenant_keys';
      for (const { tenant } of rowsInPages<TenantKeyRow>(database, tenantKeys, isLiving)) living.add(tenant);
      for (const key of rowsInPages<TenantKeyRow>(database, tenantKeys, ended)) {
        if (key.purpose !== 'wrapping' || !living.has(key.tenant)) yield key.id;
      }
    },
    recordBackup: (madeAt) => writeLastBackup(dataDir, madeAt),
    close: () => void database.close(),
  };
}

/**
 * Returns the rows of the search keys that are not destroyed, keyed by generation. They are read when the backup begins,
 * because a rebuild can destroy the key of the copied rows before the keys are copied. The restored vault could then
 * create and find no tokens.
 */
function searchKeysIn(database: SqliteDatabase): ReadonlyMap<unknown, Record<string, unknown>> {
  const living = database.prepare(`SELECT * FROM generation_keys WHERE destroyed_at = ${never}`);
  const rows = reading(() => living.all() as Record<string, unknown>[], 'keys.db');
  return new Map(rows.map((row) => [row['generation'], row]));
}

type TenantKeyRow = { readonly id: string; readonly tenant: string; readonly purpose: TenantKeyPurpose };

type Table = { readonly name: string; readonly hasRowid: boolean; readonly rowidIsColumn: boolean };

function tablesOf(database: SqliteDatabase): readonly Table[] {
  const tables = database.prepare(
    `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
     ORDER BY name <> 'data_keys', name`,
  );
  const isRowid = database
    .prepare(`SELECT count(*) FROM pragma_table_info(?) WHERE pk > 0 AND type = 'INTEGER'`)
    .pluck();
  return (tables.all() as { readonly name: string; readonly wr: number }[]).map(({ name, wr }) => ({
    name,
    hasRowid: wr === 0,
    rowidIsColumn: Number(isRowid.get(name)) === 1,
  }));
}

function* rowsOf(
  database: SqliteDatabase,
  { name, hasRowid, rowidIsColumn }: Table,
): Generator<Record<string, unknown>> {
  if (!hasRowid) {
    const all = database.prepare(`SELECT * FROM ${name}`);
    yield* reading(() => all.all() as Record<string, unknown>[], 'keys.db');
    return;
  }
  for (const { rowid, ...row } of rowsInPages<Record<string, unknown>>(database, `* FROM ${name}`, 'true')) {
    // If a column is an alias for the rowid, `SELECT *` returns the rowid under the name of that column.
    yield rowidIsColumn ? row : { rowid, ...row };
  }
}

/** Selects the columns in `select` of the rows that fulfil `condition`, and their rowids. Reads them in short steps. */
function* rowsInPages<R>(
  database: SqliteDatabase,
  select: string,
  condition: string,
): Generator<R & { readonly rowid: number }> {
  const page = database.prepare(
    `SELECT rowid AS rowid, ${select} WHERE (${condition}) AND rowid > ? ORDER BY rowid LIMIT ${pageSize}`,
  );
  for (let after = 0; ; ) {
    const rows = reading(() => page.all(after) as (R & { readonly rowid: number })[], 'keys.db');
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.rowid;
  }
}
