import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { filesCheck } from '../../../ports/store-problem.js';
import { damagedFile, databaseError, StoreBroken } from './database-error.js';
import { openDatabase, openInMemory, type SqliteDatabase } from './open-database.js';

/** The application id in the SQLite header: "SGRM". */
const applicationId = 0x5347524d;
/** The positions of `user_version` and of the application id in the header of a SQLite file. */
const [headerBytes, userVersionAt, applicationIdAt] = [100, 60, 68];
/**
 * Files up to this size are checked for damage when they are opened. The check reads the whole file, which would take
 * too long for a larger file. `doctor` checks larger files, and SQLite checks each page when it reads the page.
 */
const checkedSizeBytesMax = 256 * 1024 * 1024;

/**
 * Opens a store file for writing, and creates its tables if the file is new. Throws StoreBroken if the file belongs to
 * another program, has a different version or schema, or is damaged. If `look` is `unchecked`, does not check for
 * damage. A rejected file and its write-ahead log stay unchanged.
 */
export function prepareFile(
  path: string,
  fileName: string,
  schema: string,
  version: number,
  look: 'checked' | 'unchecked' = 'checked',
): SqliteDatabase {
  const held = hold(path, fileName);
  try {
    return prepared(path, fileName, schema, version, look);
  } finally {
    held?.close();
  }
}

/**
 * Opens a file for reading if it has a write-ahead log. Returns null if the file has no log or cannot be read. While
 * this reader is open, SQLite does not delete the log. Without a reader, SQLite copies the log into the file and
 * deletes the log when the last writing connection closes. If an operator has put the log next to the wrong copy of the
 * file, the first attempt to start would then destroy the log.
 */
function hold(path: string, fileName: string): SqliteDatabase | null {
  if (!existsSync(path)) return null;
  const log = statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size === 0) return null;
  try {
    return openDatabase(path, fileName, 'reader', (database) => read(database, 'schema_version'));
  } catch {
    // Ignores the error. If something is wrong with the file, opening it for writing reports the problem.
    return null;
  }
}

function prepared(
  path: string,
  fileName: string,
  schema: string,
  version: number,
  look: 'checked' | 'unchecked',
): SqliteDatabase {
  const database = openDatabase(path, fileName, 'writer', (opened) => expectOurs(opened, fileName, version));
  try {
    if (isNew(database)) create(database, schema, version);
    else expectSchema(database, fileName, schema);
    const sizeBytes = read(database, 'page_count') * read(database, 'page_size');
    const looks = look === 'checked' && sizeBytes <= checkedSizeBytesMax;
    if (looks && database.pragma('quick_check(1)', { simple: true }) !== 'ok') {
      throw damagedFile(fileName);
    }
    return database;
  } catch (error) {
    database.close();
    throw databaseError(error, fileName, path);
  }
}

function expectOurs(database: SqliteDatabase, fileName: string, version: number): void {
  if (isNew(database)) return;
  if (read(database, 'application_id') !== applicationId) {
    throw new StoreBroken({
      check: filesCheck,
      says: `${fileName} is not a Strongroom file`,
      do: 'Choose another data directory',
    });
  }
  expectVersion(fileName, read(database, 'user_version'), version);
}

/** Throws StoreBroken if the version of a file differs from the version of this program. */
export function expectVersion(fileName: string, stored: number, version: number): void {
  if (stored === version) return;
  throw new StoreBroken({
    check: 'versions',
    says:
      `${fileName} was written by ${stored > version ? 'a newer' : 'an older'} version of Strongroom: its format ` +
      `is ${stored}, and this version has ${version}`,
    do: `Nothing was changed. Start the version that wrote it${exportAdvice(fileName, stored)}`,
  });
}

/**
 * Returns the version in the header of a Strongroom file. Returns null if the file cannot be read or belongs to another
 * program. Does not open the file as a database, so SQLite creates no write-ahead log. A new version that is only in
 * the write-ahead log is not found.
 */
export function versionInHeader(path: string): number | null {
  try {
    const file = openSync(path, 'r');
    try {
      const header = Buffer.alloc(headerBytes);
      readSync(file, header, 0, headerBytes, 0);
      return header.readUInt32BE(applicationIdAt) === applicationId ? header.readUInt32BE(userVersionAt) : null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

/** For each older file format, the last Strongroom commit whose `export` command can read that format. */
const lastReaders: Readonly<Record<string, string>> = {
  'vault.db 6': '02a36525',
  'vault.db 7': 'ded03e94',
  'journal.db 1': '46333698',
  'journal.db 2': '2abb1de9',
  'access-YYYY-MM.db 1': '46333698',
  'access-YYYY-MM.db 2': '2abb1de9',
  'access-YYYY-MM.db 3': 'e71b1d5d',
};

function exportAdvice(fileName: string, format: number): string {
  const commit = lastReaders[`${fileName.replace(/\d{4}-\d{2}/, 'YYYY-MM')} ${format}`];
  if (commit === undefined) return '';
  return (
    `, or export the data with commit ${commit}, the last one that reads this format, and import them into a new ` +
    'data directory'
  );
}

type SchemaObject = {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
};

/**
 * Throws StoreBroken if the tables, indexes, triggers or views in the file differ from those in `schema`. Threat: an
 * attacker who can write to the file adds a trigger that ignores deletions, or a view or partial index that hides rows.
 *
 * SQLite stores the text of each statement with its comments. A change to a comment within a statement of a schema is
 * therefore a change of the file format.
 */
export function expectSchema(database: SqliteDatabase, fileName: string, schema: string): void {
  const ours = openInMemory(schema);
  const expected = objectsOf(ours);
  ours.close();
  const found = objectsOf(database);
  for (const name of new Set([...found.keys(), ...expected.keys()])) {
    if (found.get(name) === expected.get(name)) continue;
    throw new StoreBroken({
      check: 'schema',
      says: `${fileName} was changed by another program: ${JSON.stringify(name)} is not as Strongroom created it`,
      do: 'Find out who can write to the data directory, then restore it from a backup',
    });
  }
}

function objectsOf(database: SqliteDatabase): ReadonlyMap<string, string> {
  const objects = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').all() as SchemaObject[];
  return new Map(objects.map(({ type, name, tbl_name: table, sql }) => [name, JSON.stringify([type, table, sql])]));
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
