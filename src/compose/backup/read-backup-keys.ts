import { tenantKeyRowIn } from '../../adapters/sqlite/backup/tenant-key-row.js';
import { openTenantKey } from '../../keys/tenant-key.js';
import { integrityKeysOf } from '../../keys/vault-keys.js';
import { BackupRefused } from '../../ports/backup.js';
import type { TenantKeyPurpose } from '../../ports/key-store.js';
import type { Config } from '../config/config.js';
import { rootKeyPlaceOf } from '../root-key/root-key-place.js';

/** The ids of a tenant's identity keys, and of its wrapping keys that the backup does not contain as destroyed. */
export type TenantKeyIds = { readonly identity: readonly string[]; readonly wrapping: readonly string[] };

export type BackupKeys = {
  /** The key that authenticates the backup's manifest. */
  readonly macKey: Buffer;
  /** The keys of the tenants and of the vault itself, keyed by the ids of their owners. */
  readonly tenants: ReadonlyMap<string, TenantKeyIds>;
};

/**
 * Reads the keys in a backup. The key that authenticates the backup's manifest is among them, wrapped under the root
 * key. Throws BackupRefused if the backup does not contain this key, or if none of `rootKeys` can unwrap it.
 * Threat: an attacker who can write to the backup replaces every file in it. The attacker cannot compute a valid MAC
 * without the root key.
 */
export async function readBackupKeys(
  config: Config,
  keyLines: AsyncIterable<string>,
  rootKeys: readonly Buffer[],
): Promise<BackupKeys> {
  const keyIn = config.settings.profile === 'embedded' ? tenantKeyRowIn : await tenantKeyDocumentIn();
  const tenants = new Map<string, { readonly identity: string[]; readonly wrapping: string[] }>();
  let macKey: Buffer | null = null;
  for await (const line of keyLines) {
    const key = line.includes('"tenant_keys"') ? keyIn(line) : null;
    if (key === null) continue;
    const { id, tenant, wrapped } = key;
    const purpose = key.purpose as TenantKeyPurpose;
    const known = tenants.get(tenant) ?? { identity: [], wrapping: [] };
    if (purpose === 'identity') known.identity.push(id);
    if (purpose === 'wrapping' && wrapped !== null) known.wrapping.push(id);
    tenants.set(tenant, known);
    if (purpose !== 'integrity' || wrapped === null) continue;
    for (const rootKey of rootKeys) {
      const secret = openTenantKey(rootKey, wrapped, { id, tenant, purpose });
      if (secret !== null) macKey = integrityKeysOf(secret).backups;
    }
    if (macKey === null) {
      const { named } = rootKeyPlaceOf(config, 'restore');
      const from = named === null ? 'from root_key_command' : `in ${named}`;
      throw new BackupRefused(
        `the root key ${from} is not the one that this backup was made with. Set root_key_file to that key.`,
      );
    }
  }
  if (macKey === null) {
    throw new BackupRefused(
      'the keys in this backup lack the one that authenticates it. Nothing was changed. Use another backup.',
    );
  }
  return { macKey, tenants };
}

/** Loads the MongoDB library on demand, because loading it takes longer than the rest of the command. */
async function tenantKeyDocumentIn() {
  return (await import('../../adapters/mongodb/backup/tenant-key-document.js')).tenantKeyDocumentIn;
}
