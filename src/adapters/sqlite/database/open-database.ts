import type Database from 'better-sqlite3';
import { databaseError } from './database-error.js';
import { pinStatements } from './pin-statements.js';

export type SqliteDatabase = Database.Database;

/**
 * A PRAGMA that durability or erasure depends on. The SQLite build in better-sqlite3 changes some defaults. For
 * example, `synchronous` is NORMAL in WAL mode. We therefore set every value explicitly and read it back.
 */
type Setting = readonly [pragma: string, value: number | string, readBack: number | string];
const settings: readonly Setting[] = [
  // Makes SQLite overwrite freed bytes with zeros, so that a destroyed key leaves no copy in a free page.
  ['secure_delete', 'ON', 1],
  // Prevents SQLite from writing rows to temporary files.
  ['temp_store', 'MEMORY', 2],
  // Disables memory-mapped I/O. With a memory map, a failed disk read would crash the process, and truncated pages
  // would stay in memory.
  ['mmap_size', 0, 0],
  ['cell_size_check', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
];

/**
 * Returns the `synchronous` setting for a connection. With FULL, a commit is on disk before it is acknowledged. The
 * writer of `vault.db` uses NORMAL, because its changes are already durable in the journal. `vault.db` is synced only
 * by checkpoints (ADR 63).
 */
function synchronousOf(fileName: string, mode: 'writer' | 'reader' | 'checkpointer'): Setting {
  return fileName === 'vault.db' && mode === 'writer' ? ['synchronous', 'NORMAL', 1] : ['synchronous', 'FULL', 2];
}

/**
 * Returns the cache size of a connection in KiB. A process has about a dozen connections, so their caches are small.
 * Pages that are not in these caches are usually in the operating system's page cache. The writer of `vault.db` has the
 * largest cache, because it maintains the indexes. A reader needs only the upper pages of the B-trees, because SQLite
 * discards a reader's cache after each commit by another connection (ADR 33).
 */
function cacheKibOf(fileName: string, mode: 'writer' | 'reader' | 'checkpointer'): number {
  if (mode !== 'writer') return 1_024;
  return fileName === 'vault.db' ? 8_192 : 2_048;
}

/**
 * When the write-ahead log reaches this size (in 4 KiB pages), a commit also copies the log into the database file.
 * Usually another thread copies the log much earlier (`background.ts`). However, SQLite reuses the space in the log
 * only after the whole log has been copied. If commits follow each other without a pause, the other thread might never
 * manage to copy the whole log. In that case, this limit stops the log from growing further.
 */
const checkpointedPages = 8_000;
const checkpointedElsewhere: readonly string[] = ['vault.db', 'journal.db'];

/**
 * How long a connection waits for a lock, in ms. A writer waits only while it opens a file, because the first
 * connection to a file locks it briefly. After that, a writer never waits for a lock, because all requests would have
 * to wait as well.
 */
const lockWaitMs = 5_000;

/**
 * Opens a database file. Error messages refer to the file as `fileName`. `accept` runs before anything in the file
 * changes. It throws if the file must not be used. Only a `writer` creates a missing file.
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
    // SQLite interprets a negative size as KiB.
    database.pragma(`cache_size = -${cacheKibOf(fileName, mode)}`);
    if (mode !== 'reader') database.pragma('busy_timeout = 0');
    if (mode === 'writer' && checkpointedElsewhere.includes(fileName))
      database.pragma(`wal_autocheckpoint = ${checkpointedPages}`);
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, fileName, path);
  }
}

/** Creates an in-memory database with this schema. */
export function openInMemory(schema: string): SqliteDatabase {
  const database = pinStatements(':memory:', {});
  database.exec(schema);
  return database;
}

function expectSetting(database: SqliteDatabase, pragma: string, expected: number | string): void {
  const actual = database.pragma(pragma, { simple: true }) ?? 0;
  if (actual !== expected) throw new Error(`SQLite did not accept ${pragma} = ${expected}: it returned ${actual}`);
}
