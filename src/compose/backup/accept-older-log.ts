import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expectWholeLog } from '../../audit/continuity.js';
import { endLost } from '../../jobs/end-erased.js';
import { lookOverKeys } from '../../jobs/look-over-keys.js';
import { BackupRefused } from '../../ports/backup.js';
import { acceptLog, logBehind } from '../../vault/log-behind.js';
import type { Config } from '../config/config.js';
import { dataDirectoryOf, openProfile } from '../open-profile.js';

/**
 * Goes on with a log that was put back beside newer keys: records the tokens as ended whose keys were erased since, and
 * answers how many. Cut off anywhere it is begun again. Throws BackupRefused when the log is not behind.
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
    // Threat: what is accepted is what every later start goes on from.
    await expectWholeLog(vault);
    // A key without a row was not erased: that is for a backup of the keys to mend.
    const erased = (await lookOverKeys(vault)).lost.filter(({ key }) => key === 'destroyed');
    await endLost(vault, erased);
    await acceptLog(vault);
    return erased.length;
  } finally {
    await close();
  }
}
