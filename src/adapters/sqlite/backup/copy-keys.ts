import { join } from 'node:path';
import { BackupRefused, type KeysToCopy } from '../../../ports/backup.js';
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
   * backup, and the copied keys end up wrapped under different keys. Such a backup cannot be restored.
   */
  function refuseRotation(): void {
    const check = metaOf('root_check');
    const isSame = check !== undefined && rootCheck?.equals(check) === true;
    if (metaOf('rotation') === undefined && isSame) return;
    throw new BackupRefused(
      'the keys are being rotated. Finish that (`strongroom keys rotate --all`), then try again.',
    );
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
    async *erased() {
      const ended = `destroyed_at <> ${never}`;
      for (const { id } of rowsInPages<{ readonly id: Buffer }>(database, `id FROM data_keys WHERE ${ended}`)) {
        yield uuidText(id);
      }
      for (const { id } of rowsInPages<{ readonly id: string }>(database, `id FROM tenant_keys WHERE ${ended}`)) {
        yield id;
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
  for (const { rowid, ...row } of rowsInPages<Record<string, unknown>>(database, `* FROM ${name} WHERE true`)) {
    // If a column is an alias for the rowid, `SELECT *` returns the rowid under the name of that column.
    yield rowidIsColumn ? row : { rowid, ...row };
  }
}

/** Returns the rows that the end of a SELECT statement selects, each with its rowid. Reads them in short steps. */
function* rowsInPages<R>(database: SqliteDatabase, select: string): Generator<R & { readonly rowid: number }> {
  const page = database.prepare(`SELECT rowid AS rowid, ${select} AND rowid > ? ORDER BY rowid LIMIT ${pageSize}`);
  for (let after = 0; ; ) {
    const rows = reading(() => page.all(after) as (R & { readonly rowid: number })[], 'keys.db');
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.rowid;
  }
}
