import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expectWholeLog } from '../../audit/continuity.js';
import { reconcileKeys } from '../../commands/recovery/reconcile-keys.js';
import { type Erased, findErased, recordErased } from '../../commands/recovery/record-erased.js';
import { BackupRefused } from '../../ports/backup.js';
import { shredWholeLog } from '../../projections/shredder.js';
import { acceptLog, logBehind, staysBehind } from '../../vault/log-behind.js';
import type { Config } from '../config/config.js';
import { faultOfContent } from '../embedded/data-directory.js';
import { dataDirectoryOf, repairStores } from '../open-profile.js';

/**
 * Accepts a restored log that is older than the vault's keys. Finds the keys that were destroyed after the log was
 * copied. For each of them, appends the event that is missing from the log: the deletion of the tenant or token, or the
 * purge of the token's verification code. Returns what was recorded. After an interruption, the operator can run the
 * command again. Throws BackupRefused if the log is not older than the keys.
 */
export async function acceptOlderLog(config: Config, rootKeys: readonly [Buffer, ...Buffer[]]): Promise<Erased> {
  const dataDir = dataDirectoryOf(config);
  const fault = dataDir === null ? null : faultOfContent(dataDir);
  if (fault !== null) throw new BackupRefused(fault);
  if (dataDir !== null && !existsSync(join(dataDir, 'vault.db'))) {
    throw new BackupRefused(`there is no vault in ${dataDir}. Choose another directory with --data.`);
  }
  return repairStores(config, rootKeys, async ({ vault }) => {
    if ((await logBehind(vault)) === null)
      throw new BackupRefused('the log is not behind its keys; nothing was changed.');
    // Threat: an attacker who can write to the stores substitutes a forged log. Every later start trusts the log
    // accepted by this command.
    await expectWholeLog(vault);
    // Records the deleted tenants first, so that their tokens are not among the unreadable ones.
    const { tenants } = await findErased(vault.log, { key: () => false, tenant: vault.keys.check.isTenantDestroyed });
    await staysBehind(vault);
    await recordErased(vault, { tenants, tokens: [] });
    // A key without a row in the key store was lost, not erased. The operator can recover it by restoring the key store
    // from a backup.
    const tokens = (await reconcileKeys(vault)).lost.filter(({ key }) => key === 'destroyed');
    await recordErased(vault, { tenants: [], tokens });
    await acceptLog(vault, () => shredWholeLog(vault.log, vault.keys, Number.POSITIVE_INFINITY));
    return { tenants, tokens };
  });
}
