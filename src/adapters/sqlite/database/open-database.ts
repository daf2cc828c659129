import type Database from 'better-sqlite3';
import { databaseError } from './database-error.js';
import { keptDatabase } from './kept-database.js';

export type SqliteDatabase = Database.Database;

/**
 * The settings that the promises rest on. The library's build defaults differ (`synchronous` is NORMAL in WAL mode
 * there), so each one is set and read back.
 */
const settings: readonly (readonly [pragma: string, value: number | string, readBack: number | string])[] = [
  // A commit is on the disk before it is acknowledged.
  ['synchronous', 'FULL', 2],
  // Freed bytes are overwritten with zeros: a destroyed key leaves no copy in a free page.
  ['secure_delete', 'ON', 1],
  // No temporary file ever holds rows.
  ['temp_store', 'MEMORY', 2],
  // A memory map would turn a failed disk read into a crash and keep pages that were truncated.
  ['mmap_size', 0, 0],
  ['cell_size_check', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
];

/**
 * KiB, negative as SQLite wants it. A process has many connections, and what one of them lacks the system has in memory; only
 * the one that keeps the indexes of `vault.db` has SQLite's 16 MB.
 */
const smallCache = -4_096;

/**
 * Opens a database file; this is the only place that does. `fileName` names it in messages. `accept` may throw: it sees
 * the file before anything in it is changed.
 */
export function openDatabase(
  path: string,
  fileName: string,
  mode: 'writer' | 'reader',
  accept: (database: SqliteDatabase) => void = () => undefined,
): SqliteDatabase {
  let database: SqliteDatabase | null = null;
  try {
    database = keptDatabase(path, { readonly: mode === 'reader', timeout: mode === 'reader' ? 5_000 : 0 });
    accept(database);
    if (database.pragma('journal_mode', { simple: true }) !== 'wal') database.pragma('journal_mode = WAL');
    expectSetting(database, 'journal_mode', 'wal');
    for (const [pragma, value, readBack] of settings) {
      database.pragma(`${pragma} = ${value}`);
      expectSetting(database, pragma, readBack);
    }
    if (mode === 'reader' || fileName !== 'vault.db') database.pragma(`cache_size = ${smallCache}`);
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, fileName);
  }
}

/** Opens a database in memory with these tables and nothing in them. */
export function openInMemory(schema: string): SqliteDatabase {
  const database = keptDatabase(':memory:', {});
  database.exec(schema);
  return database;
}

function expectSetting(database: SqliteDatabase, pragma: string, expected: number | string): void {
  const actual = database.pragma(pragma, { simple: true }) ?? 0;
  if (actual !== expected) throw new Error(`SQLite did not accept ${pragma} = ${expected}: it answers ${actual}`);
}
