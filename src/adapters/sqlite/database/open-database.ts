import type Database from 'better-sqlite3';
import { databaseError } from './database-error.js';
import { pinStatements } from './pin-statements.js';

export type SqliteDatabase = Database.Database;

/**
 * The settings that durability and erasure depend on. The library's build defaults differ (`synchronous` is NORMAL in
 * WAL mode), so we set each one and read it back.
 */
type Setting = readonly [pragma: string, value: number | string, readBack: number | string];
const settings: readonly Setting[] = [
  // SQLite overwrites freed bytes with zeros, so a destroyed key leaves no copy in a free page.
  ['secure_delete', 'ON', 1],
  // Rows are never written to a temporary file.
  ['temp_store', 'MEMORY', 2],
  // A memory map would turn a failed disk read into a crash and keep pages that were truncated.
  ['mmap_size', 0, 0],
  ['cell_size_check', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
];

/**
 * A commit reaches the disk before it is acknowledged. The writer of `vault.db` does not wait for that: its commits are
 * in the journal, and only its checkpoints sync the file (ADR 63).
 */
function synchronousOf(fileName: string, mode: 'writer' | 'reader' | 'checkpointer'): Setting {
  return fileName === 'vault.db' && mode === 'writer' ? ['synchronous', 'NORMAL', 1] : ['synchronous', 'FULL', 2];
}

/**
 * In KiB; SQLite expects a negative number. A process has many connections, and the page cache of the operating system
 * serves what a small cache lacks. Only the writer of `vault.db`, which maintains the indexes, keeps SQLite's 16 MB.
 */
const smallCache = -4_096;

/**
 * The length of the write-ahead log, in pages of 4 KiB, at which a commit copies it into the file. Another thread does
 * that much earlier (`background.ts`). Commits that follow each other without a pause can keep the log growing, because
 * SQLite starts it from its beginning only when all of it was copied.
 */
const checkpointedPages = 8_000;
const checkpointedElsewhere: readonly string[] = ['vault.db', 'journal.db'];

/**
 * How long a reader waits for a lock, and a writer while it opens a file: the first connection to a file locks it for a
 * moment. Afterwards a writer does not wait, because all requests would wait with it.
 */
const lockWaitMs = 5_000;

/**
 * Opens a database file. `fileName` names it in messages. `accept` runs before anything in the file changes, and throws
 * to reject the file. A `checkpointer` does not create the file.
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
