import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { vaultKeyTenant } from '../../../ports/key-store.js';
import { expectMonthVersions } from '../access-log/month-files.js';
import { StoreBroken } from '../database/database-error.js';
import { keysSchema, keysSchemaVersion } from '../database/keys-schema.js';
import type { SqliteDatabase } from '../database/open-database.js';
import { prepareFile } from '../database/prepare-file.js';
import { vaultSchema, vaultSchemaVersion } from '../database/vault-schema.js';
import { journalSchema, journalSchemaVersion } from '../journal/journal-schema.js';
import { completeVault } from './complete-vault.js';
import { expectState } from './expect-state.js';

/**
 * Selects the keys of tenants and excludes the vault's own keys. The vault creates its own keys before the first event,
 * so they can exist even if the log is empty.
 */
const keysOfTenants = `tenant_keys WHERE tenant <> '${vaultKeyTenant}'`;

/** Selects the groups in the journal, and the record of the newest group that has been removed. */
const groupsOfJournal =
  "(SELECT sequence FROM groups UNION ALL SELECT sequence FROM ends WHERE of = 'groups' AND sequence > 0)";

type OpenFiles = {
  readonly vault: SqliteDatabase;
  readonly keys: SqliteDatabase;
  readonly journal: SqliteDatabase;
  /** The message of `completeVault`. */
  readonly notice: string | null;
};

const openVault = (dataDir: string) =>
  prepareFile(join(dataDir, 'vault.db'), 'vault.db', vaultSchema, vaultSchemaVersion);
const openKeys = (dataDir: string) => prepareFile(join(dataDir, 'keys.db'), 'keys.db', keysSchema, keysSchemaVersion);
const openJournal = (dataDir: string) =>
  prepareFile(join(dataDir, 'journal.db'), 'journal.db', journalSchema, journalSchemaVersion);

/**
 * Opens `vault.db`, `keys.db` and `journal.db` for writing. Creates missing files, and completes `vault.db` from the
 * journal. Throws StoreBroken if a file has a different version, is damaged or was lost.
 */
export function prepareStores(dataDir: string): OpenFiles {
  expectNothingLost(dataDir);
  const opened: SqliteDatabase[] = [];
  const open = (database: SqliteDatabase): SqliteDatabase => {
    opened.push(database);
    return database;
  };
  try {
    const keys = open(openKeys(dataDir));
    const vault = open(openVault(dataDir));
    const journal = open(openJournal(dataDir));
    expectState(keys, 'keys.db');
    expectState(vault, 'vault.db');
    expectState(journal, 'journal.db');
    expectMonthVersions(dataDir);
    const notice = completeVault({ vault, keys, journal });
    if (!holds(vault, 'events') && holds(keys, keysOfTenants)) throw lostVault();
    return { vault, keys, journal, notice };
  } catch (error) {
    for (const database of opened) database.close();
    throw error;
  }
}

/**
 * Throws StoreBroken if `keys.db` or `vault.db` is missing while the other file is in use, or if both are missing while
 * `journal.db` is in use. In these cases, the missing file has been lost, and creating a new file would hide the loss.
 */
export function expectNothingLost(dataDir: string): void {
  const [hasVault, hasKeys, hasJournal] = ['vault.db', 'keys.db', 'journal.db'].map((file) =>
    hasContent(join(dataDir, file)),
  );
  if (hasVault && !hasKeys) refuse(openVault(dataDir), 'events', lostKeys);
  if (!hasVault && hasKeys) refuse(openKeys(dataDir), keysOfTenants, lostVault);
  if (!hasVault && !hasKeys && hasJournal) refuse(openJournal(dataDir), groupsOfJournal, lostBoth);
}

function lostBoth(): StoreBroken {
  return new StoreBroken(
    'vault.db and keys.db are missing or empty, but journal.db is in use. If this directory is a copy, copy all files ' +
      'again. Otherwise, restore a backup to an empty directory.',
  );
}

function lostKeys(): StoreBroken {
  return new StoreBroken('keys.db is missing or empty, and no data can be read without it. Restore it from a backup.');
}

/** Returns the error for a log that is missing while the key store is in use. */
export function lostVault(): StoreBroken {
  return new StoreBroken('vault.db is missing or empty, but keys.db is in use. Restore it from a backup.');
}

/**
 * Returns true if the file or its write-ahead log is not empty. An empty file is treated as missing, because a careless
 * restore can leave an empty file in place of a lost one.
 */
export function hasContent(path: string): boolean {
  // `existsSync` is also false if a part of the path is a file. `statSync` would throw.
  return [path, `${path}-wal`].some(
    (file) => existsSync(file) && (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

function refuse(database: SqliteDatabase, rows: string, error: () => StoreBroken): void {
  const inUse = holds(database, rows);
  database.close();
  if (inUse) throw error();
}

function holds(database: SqliteDatabase, rows: string): boolean {
  return database.prepare(`SELECT 1 FROM ${rows} LIMIT 1`).get() !== undefined;
}
