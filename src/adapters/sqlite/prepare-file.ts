import { databaseError, StoreBroken } from './database-error.js';
import { openDatabase, type SqliteDatabase } from './open-database.js';

/** SQLite's own mark of whose file it is: "SGRM". */
const applicationId = 0x5347524d;
/** Checking a file reads all of it, so a larger one is checked by `doctor` and by each page as it is read. */
const checkedSizeBytesMax = 256 * 1024 * 1024;

/**
 * Opens a store file for writing, makes its tables when it is new, refuses one of another kind, version or, unless told
 * not to look, damaged.
 */
export function prepareFile(
  path: string,
  fileName: string,
  schema: string,
  version: number,
  look: 'checked' | 'unchecked' = 'checked',
): SqliteDatabase {
  const database = openDatabase(path, fileName, 'writer', (opened) => expectOurs(opened, fileName, version));
  try {
    if (isNew(database)) create(database, schema, version);
    const sizeBytes = read(database, 'page_count') * read(database, 'page_size');
    const looks = look === 'checked' && sizeBytes <= checkedSizeBytesMax;
    if (looks && database.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw new StoreBroken(`${fileName} is damaged. Stop the service and restore the data directory from a backup.`);
    }
    return database;
  } catch (error) {
    database.close();
    throw databaseError(error, fileName);
  }
}

function expectOurs(database: SqliteDatabase, fileName: string, version: number): void {
  if (isNew(database)) return;
  if (read(database, 'application_id') !== applicationId) {
    throw new StoreBroken(`${fileName} is no file of Strongroom. Choose another data directory.`);
  }
  const stored = read(database, 'user_version');
  if (stored !== version) {
    throw new StoreBroken({
      check: 'versions',
      says: `${fileName} was written by ${stored > version ? 'a newer' : 'an older'} version of Strongroom: its format is ${stored}, and this version has ${version}`,
      do: 'Nothing was changed. Start the version that wrote it',
    });
  }
}

function isNew(database: SqliteDatabase): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined && read(database, 'application_id') === 0;
}

function create(database: SqliteDatabase, schema: string, version: number): void {
  database.transaction(() => {
    database.exec(schema);
    database.pragma(`application_id = ${applicationId}`);
    database.pragma(`user_version = ${version}`);
  })();
}

function read(database: SqliteDatabase, pragma: string): number {
  return Number(database.pragma(pragma, { simple: true }));
}
