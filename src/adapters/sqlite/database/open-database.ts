import type Database from 'better-sqlite3';
import { databaseError } from './database-error.js';
import { pinStatements } from './pin-statements.js';

export type SqliteDatabase = Database.Database;

/**
 * A setting that durability or erasure depends on. The library's build has different defaults (`synchronous` is NORMAL
 * in WAL mode), so we set each value and read it back.
 */
type Setting = readonly [pragma: string, value: number | string, readBack: number | string];
const settings: readonly Setting[] = [
  // SQLite overwrites freed bytes with zeros, so a destroyed key leaves no copy in a free page.
  ['secure_delete', 'ON', 1],
  // SQLite never writes rows to a temporary file.
  ['temp_store', 'MEMORY', 2],
  // A memory map would turn a failed disk read into a crash, and would keep truncated pages.
  ['mmap_size', 0, 0],
  ['cell_size_check', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
];

/**
 * Returns the `synchronous` setting. A commit reaches the disk before it is acknowledged, except that the writer of
 * `vault.db` does not wait: its commits are in the journal, and only checkpoints sync the file (ADR 63).
 */
function synchronousOf(fileName: string, mode: 'writer' | 'reader' | 'checkpointer'): Setting {
  return fileName === 'vault.db' && mode === 'writer' ? ['synchronous', 'NORMAL', 1] : ['synchronous', 'FULL', 2];
}

/**
 * A cache size in KiB, which SQLite expects as a negative number. A process has many connections, and the operating
 * system's page cache serves what a small cache lacks. Only the writer of `vault.db`, which maintains the indexes,
 * keeps SQLite's 16 MB.
 */
const smallCache = -4_096;

/**
 * The length of the write-ahead log, in 4 KiB pages, at which a commit copies it into the file. Another thread usually
 * does so much earlier (`background.ts`). Commits without a pause between them can keep the log growing, because SQLite
 * restarts it only once all of it has been copied.
 */
const checkpointedPages = 8_000;
const checkpointedElsewhere: readonly string[] = ['vault.db', 'journal.db'];

/**
 * How long a reader waits for a lock. A writer waits this long only while it opens a file, because the first connection
 * to a file locks it briefly. After that, a writer does not wait, because all requests would wait with it.
 */
const lockWaitMs = 5_000;

/**
 * Opens a database file. `fileName` identifies it in messages. `accept` runs before anything in the file changes, and
 * throws to reject the file. A `checkpointer` does not create the file.
 */
export function openDatabase(
  path: string,
  fileName: string,
  mode: 'writer' | 'reader' | 'checkpointer',
  accept: (database: SqliteDatabase) => void = () => undefined,
): SqliteDatabase {
  let database: SqliteDatabase | null = null;
  try {
    database = pinStatements(path, {
      readonly: mode === 'reader',
      fileMustExist: mode !== 'writer',
      timeout: lockWaitMs,
    });
    accept(database);
    if (database.pragma('journal_mode', { simple: true }) !== 'wal') database.pragma('journal_mode = WAL');
    expectSetting(database, 'journal_mode', 'wal');
    for (const [pragma, value, readBack] of [synchronousOf(fileName, mode), ...settings]) {
      database.pragma(`${pragma} = ${value}`);
      expectSetting(database, pragma, readBack);
    }
    if (mode !== 'writer' || fileName !== 'vault.db') database.pragma(`cache_size = ${smallCache}`);
    if (mode !== 'reader') database.pragma('busy_timeout = 0');
    if (mode === 'writer' && checkpointedElsewhere.includes(fileName))
      database.pragma(`wal_autocheckpoint = ${checkpointedPages}`);
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, fileName);
  }
}

/** Opens an in-memory database with the tables of `schema`, all empty. */
export function openInMemory(schema: string): SqliteDatabase {
  const database = pinStatements(':memory:', {});
  database.exec(schema);
  return database;
}

function expectSetting(database: SqliteDatabase, pragma: string, expected: number | string): void {
  const actual = database.pragma(pragma, { simple: true }) ?? 0;
  if (actual !== expected) throw new Error(`SQLite did not accept ${pragma} = ${expected}: it returned ${actual}`);
}
