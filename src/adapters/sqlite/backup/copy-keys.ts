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

  function* ids(sql: string, idOf: (id: never) => string): Generator<string> {
    const page = database.prepare(sql);
    for (let after = 0; ; ) {
      const rows = reading(() => page.all(after) as { readonly row: number; readonly id: never }[], 'keys.db');
      for (const { id } of rows) yield idOf(id);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.row;
    }
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
      const ended = `destroyed_at <> ${never} ORDER BY rowid LIMIT ${pageSize}`;
      yield* ids(`SELECT rowid AS row, id FROM data_keys WHERE rowid > ? AND ${ended}`, (id: Buffer) => uuidText(id));
      yield* ids(`SELECT rowid AS row, id FROM tenant_keys WHERE rowid > ? AND ${ended}`, (id: string) => id);
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
  const read = <T>(run: () => T): T => reading(run, 'keys.db');
  if (!hasRowid) {
    const all = database.prepare(`SELECT * FROM ${name}`);
    yield* read(() => all.all() as Record<string, unknown>[]);
    return;
  }
  const page = database.prepare(
    `SELECT rowid AS rowid, * FROM ${name} WHERE rowid > ? ORDER BY rowid LIMIT ${pageSize}`,
  );
  for (let after = 0; ; ) {
    const rows = read(() => page.all(after) as (Record<string, unknown> & { readonly rowid: number })[]);
    // If a column is an alias for the rowid, `SELECT *` returns the rowid under the name of that column.
    for (const { rowid, ...row } of rows) yield rowidIsColumn ? row : { rowid, ...row };
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.rowid;
  }
}
