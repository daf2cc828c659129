import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expectWholeLog } from '../../audit/continuity.js';
import { closeUnreadableTokens } from '../../jobs/close-unreadable-tokens.js';
import { reconcileKeys } from '../../jobs/reconcile-keys.js';
import { BackupRefused } from '../../ports/backup.js';
import { acceptLog, logBehind } from '../../vault/log-behind.js';
import type { Config } from '../config/config.js';
import { faultOfContent } from '../embedded/data-directory.js';
import { dataDirectoryOf, openToRepair } from '../open-profile.js';

/**
 * Accepts a restored log that is older than the vault's keys. Finds the keys that were destroyed after the log was
 * copied. For each of them, appends the event that is missing from the log: the deletion of the token, or the purge of
 * its verification code. Returns the number of affected tokens. After an interruption, the operator can run the command
 * again. Throws BackupRefused if the log is not older than the keys.
 */
export async function acceptOlderLog(config: Config, rootKeys: readonly [Buffer, ...Buffer[]]): Promise<number> {
  const dataDir = dataDirectoryOf(config);
  const fault = dataDir === null ? null : faultOfContent(dataDir);
  if (fault !== null) throw new BackupRefused(fault);
  if (dataDir !== null && !existsSync(join(dataDir, 'vault.db'))) {
    throw new BackupRefused(`there is no vault in ${dataDir}. Name another directory with --data.`);
  }
  const { vault, close } = await openToRepair(config, rootKeys);
  try {
    if ((await logBehind(vault)) === null)
      throw new BackupRefused('the log is not behind its keys; nothing was changed.');
    // Threat: an attacker who can write to the stores substitutes a forged log. Every later start trusts the log
    // accepted by this command.
    await expectWholeLog(vault);
    // A key without a row in the key store was lost, not erased. The operator can recover it by restoring the key store
    // from a backup.
    const erased = (await reconcileKeys(vault)).lost.filter(({ key }) => key === 'destroyed');
    await closeUnreadableTokens(vault, erased);
    await acceptLog(vault);
    return erased.length;
  } finally {
    await close();
  }
}
