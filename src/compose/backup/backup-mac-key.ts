import { integrityRowIn } from '../../adapters/sqlite/backup/integrity-row.js';
import { openTenantKey } from '../../keys/tenant-key.js';
import { integrityKeysOf } from '../../keys/vault-keys.js';
import { BackupRefused } from '../../ports/backup.js';
import type { VaultKeyPurpose } from '../../ports/key-store.js';
import type { Config } from '../config/config.js';

const purpose: VaultKeyPurpose = 'integrity';

/**
 * Returns the key that authenticates a backup's manifest. The key is among the keys in the backup, wrapped under the
 * root key. Throws BackupRefused if the backup does not contain the key, or if none of `rootKeys` can unwrap it.
 * Threat: an attacker who can write to the backup replaces every file in it. The attacker cannot compute a valid MAC
 * without the root key.
 */
export async function backupMacKey(
  { settings }: Config,
  keyLines: AsyncIterable<string>,
  rootKeys: readonly Buffer[],
): Promise<Buffer> {
  const rowIn = settings.profile === 'embedded' ? integrityRowIn : await integrityDocumentIn();
  for await (const line of keyLines) {
    const row = line.includes(`"${purpose}"`) ? rowIn(line) : null;
    if (row === null) continue;
    for (const rootKey of rootKeys) {
      const secret = openTenantKey(rootKey, row.wrapped, { ...row, purpose });
      if (secret !== null) return integrityKeysOf(secret).backups;
    }
    throw new BackupRefused(
      'the root key is not the one that this backup was made with. Name the right root key file.',
    );
  }
  throw new BackupRefused('the keys in this backup lack the one that authenticates it. Nothing was changed.');
}

/** Loads the MongoDB library on demand, because loading it takes longer than the rest of the command. */
async function integrityDocumentIn() {
  return (await import('../../adapters/mongodb/backup/integrity-document.js')).integrityDocumentIn;
}
