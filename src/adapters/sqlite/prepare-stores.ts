import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StoreBroken } from './database-error.js';
import { keysSchema, keysSchemaVersion } from './keys-schema.js';
import type { SqliteDatabase } from './open-database.js';
import { prepareFile } from './prepare-file.js';
import { vaultSchema, vaultSchemaVersion } from './vault-schema.js';
import { truncateLog } from './writer/erasure.js';

/**
 * Opens both files for writing and makes those that are not there, unless the other one shows that it should be: then
 * it is lost, and a new one would hide that. Throws StoreBroken.
 */
export function prepareStores(dataDir: string): { readonly vault: SqliteDatabase; readonly keys: SqliteDatabase } {
  const hadKeys = existsSync(join(dataDir, 'keys.db'));
  const hadVault = existsSync(join(dataDir, 'vault.db'));
  const openKeys = () => prepareFile(join(dataDir, 'keys.db'), 'keys.db', keysSchema, keysSchemaVersion);
  const openVault = () => prepareFile(join(dataDir, 'vault.db'), 'vault.db', vaultSchema, vaultSchemaVersion);
  const lostKeys = () => new StoreBroken('keys.db is missing, and nothing opens without it. Restore it from a backup.');
  const lostVault = () =>
    new StoreBroken('vault.db is missing or empty, but keys.db is in use. Restore it from a backup.');

  if (!hadKeys && hadVault) refuse(openVault(), 'events', lostKeys);
  if (hadKeys && !hadVault) refuse(openKeys(), 'tenant_keys', lostVault);
  const keys = openKeys();
  const vault = openVault();
  // What a crash left in the log of the key store must not wait for the first erasure.
  truncateLog(keys);
  if (!holds(vault, 'events') && holds(keys, 'tenant_keys')) throw lostVault();
  return { vault, keys };
}

function refuse(database: SqliteDatabase, table: string, error: () => StoreBroken): void {
  const inUse = holds(database, table);
  database.close();
  if (inUse) throw error();
}

function holds(database: SqliteDatabase, table: string): boolean {
  return database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
}
