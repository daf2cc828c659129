import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expectWholeLog } from '../../audit/continuity.js';
import { closeUnreadableTokens } from '../../jobs/close-unreadable-tokens.js';
import { reconcileKeys } from '../../jobs/reconcile-keys.js';
import { BackupRefused } from '../../ports/backup.js';
import { acceptLog, logBehind } from '../../vault/log-behind.js';
import type { Config } from '../config/config.js';
import { dataDirectoryOf, openProfile } from '../open-profile.js';

/**
 * Accepts a restored log that is older than the vault's keys. If a key was destroyed after the log was copied, appends
 * the event that is missing from the log: the deletion of the token, or the purge of its verification code. Returns the
 * number of tokens that are affected. After an interruption, the operator runs the command again. Throws BackupRefused
 * if the log is not older than the keys.
 */
export async function acceptOlderLog(config: Config, rootKeys: readonly [Buffer, ...Buffer[]]): Promise<number> {
  const dataDir = dataDirectoryOf(config);
  if (dataDir !== null && !existsSync(join(dataDir, 'vault.db'))) {
    throw new BackupRefused(`there is no vault in ${dataDir}. Name another directory with --data.`);
  }
  const fail = (error: unknown): void => {
    throw error;
  };
  const { vault, close } = await openProfile(config, {
    ...{ rootKeys, prepares: false, isVerb: true, acceptsOlderLog: true, onError: fail, onBroken: fail },
  });
  try {
    if ((await logBehind(vault)) === null)
      throw new BackupRefused('the log is not behind its keys; nothing was changed.');
    // Threat: an attacker restores a forged log. Every later start trusts the log that is accepted here.
    await expectWholeLog(vault);
    // A key that has no row in the key store was lost, not erased. Restoring the key store from a backup recovers that
    // key.
    const erased = (await reconcileKeys(vault)).lost.filter(({ key }) => key === 'destroyed');
    await closeUnreadableTokens(vault, erased);
    await acceptLog(vault);
    return erased.length;
  } finally {
    await close();
  }
}
