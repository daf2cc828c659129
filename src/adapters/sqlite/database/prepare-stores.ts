import { statSync } from 'node:fs';
import { join } from 'node:path';
import { vaultKeyTenant } from '../../../ports/key-store.js';
import { StoreBroken } from './database-error.js';
import { keysSchema, keysSchemaVersion } from './keys-schema.js';
import type { SqliteDatabase } from './open-database.js';
import { prepareFile } from './prepare-file.js';
import { vaultSchema, vaultSchemaVersion } from './vault-schema.js';

/** Excludes the vault's own keys. The vault creates those before its first event, which needs one of them. */
const keysOfTenants = `tenant_keys WHERE tenant <> '${vaultKeyTenant}'`;

/**
 * Opens both files for writing and creates the missing ones. Throws StoreBroken if one file is missing and the other is
 * in use: the missing file is lost, and a new one would hide the loss.
 */
export function prepareStores(dataDir: string): { readonly vault: SqliteDatabase; readonly keys: SqliteDatabase } {
  const hasKeys = hasContent(join(dataDir, 'keys.db'));
  const hasVault = hasContent(join(dataDir, 'vault.db'));
  const openKeys = () => prepareFile(join(dataDir, 'keys.db'), 'keys.db', keysSchema, keysSchemaVersion);
  const openVault = () => prepareFile(join(dataDir, 'vault.db'), 'vault.db', vaultSchema, vaultSchemaVersion);

  if (!hasKeys && hasVault) refuse(openVault(), 'events', lostKeys);
  if (hasKeys && !hasVault) refuse(openKeys(), keysOfTenants, lostVault);
  const keys = openKeys();
  try {
    const vault = openVault();
    if (holds(vault, 'events') || !holds(keys, keysOfTenants)) return { vault, keys };
    vault.close();
    throw lostVault();
  } catch (error) {
    keys.close();
    throw error;
  }
}

function lostKeys(): StoreBroken {
  return new StoreBroken('keys.db is missing or empty, and no data can be read without it. Restore it from a backup.');
}

/** Returns the error for a log that is missing while the key store is in use. */
export function lostVault(): StoreBroken {
  return new StoreBroken('vault.db is missing or empty, but keys.db is in use. Restore it from a backup.');
}

/**
 * Returns whether the file or its write-ahead log has any bytes. A careless restore can leave an empty file in place of
 * a lost one.
 */
function hasContent(path: string): boolean {
  return [path, `${path}-wal`].some((file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0);
}

function refuse(database: SqliteDatabase, rows: string, error: () => StoreBroken): void {
  const inUse = holds(database, rows);
  database.close();
  if (inUse) throw error();
}

function holds(database: SqliteDatabase, rows: string): boolean {
  return database.prepare(`SELECT 1 FROM ${rows} LIMIT 1`).get() !== undefined;
}
