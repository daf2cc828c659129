import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { writeKeys } from '../../adapters/sqlite/backup/write-keys.js';
import { expectWholeLog } from '../../audit/continuity.js';
import {
  closeUnreadableTokens,
  findUnreadableTokens,
  type UnreadableToken,
} from '../../jobs/close-unreadable-tokens.js';
import { BackupRefused, type ErasedKeys, type OnPhase } from '../../ports/backup.js';
import { acceptLog } from '../../vault/log-behind.js';
import type { Config } from '../config/config.js';
import { storeUrls } from '../config/store-urls.js';
import { openProfile } from '../open-profile.js';
import { fsyncDirectory } from '../root-key/fsync-directory.js';
import { keysDatabaseOf } from './stores-to-copy.js';

export type Restoring = {
  readonly config: Config;
  readonly rootKeys: readonly [Buffer, ...Buffer[]];
  /** The backup's folder. `files` contains the names of the store files in that folder. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly keyLines: AsyncIterable<string>;
  readonly erased: ErasedKeys;
  readonly onPhase: OnPhase;
  /** Throws if tokens were erased after the backup was made and the operator has not accepted these erasures. */
  readonly expectAccepted: (lost: readonly UnreadableToken[]) => void;
};

/**
 * Restores the stores from a backup. Never restores a key that was erased after the backup was made. Returns the number
 * of tokens that were erased after the backup was made.
 */
export function restoreStores(restoring: Restoring): Promise<number> {
  return restoring.config.settings.profile === 'embedded' ? restoreFiles(restoring) : restoreKeys(restoring);
}

/** Throws BackupRefused if the data directory is not empty. */
export function expectNoData({ settings }: Config): void {
  if (settings.profile !== 'embedded' || !existsSync(settings.data) || readdirSync(settings.data).length === 0) return;
  throw new BackupRefused(`${settings.data} is not empty; nothing was changed. Name another directory with --data.`);
}

/**
 * Restores the files into a temporary directory next to the data directory. When the directory is complete, renames it
 * to the data directory.
 */
async function restoreFiles(restoring: Restoring): Promise<number> {
  const { config, folder, files, keyLines, erased, onPhase } = restoring;
  const dataDir = resolve(config.settings.data);
  const part = `${dataDir}.restoring-${randomBytes(4).toString('hex')}`;
  mkdirSync(part, { recursive: true, mode: 0o700 });
  try {
    onPhase('copying the log, the rows and the access log');
    for (const file of files) copyFileSync(join(folder, file), join(part, file));
    onPhase('writing the keys');
    await writeKeys(part, keyLines, erased);
    const ended = await endInOpened({ ...config, settings: { ...config.settings, data: part } }, restoring);
    rmSync(join(part, 'lock'), { force: true });
    fsyncDirectory(part);
    if (existsSync(dataDir)) rmdirSync(dataDir);
    renameSync(part, dataDir);
    fsyncDirectory(dirname(dataDir));
    return ended;
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Restores the keys. Before writing any key, compares the log with the list of erased keys. If erasures are missing
 * from the log and the operator has not accepted them, throws an error, and the key store remains empty.
 */
async function restoreKeys(restoring: Restoring): Promise<number> {
  const { config, keyLines, erased, expectAccepted, onPhase } = restoring;
  const stores = storeUrls(config);
  if (!stores.ok) throw new BackupRefused(stores.problems.join('\n'));
  const { openEventStoreDb } = await import('../../adapters/eventstoredb/open-event-store-db.js');
  const { writeMongoKeys } = await import('../../adapters/mongodb/backup/write-mongo-keys.js');
  const { log, close } = await openEventStoreDb(stores.urls.eventstore);
  try {
    onPhase('comparing the log with the list of erased keys');
    expectAccepted(await findUnreadableTokens(log, (keyId) => erased.ids.has(keyId)));
  } finally {
    await close();
  }
  onPhase('writing the keys');
  await writeMongoKeys(stores.urls.keys, keysDatabaseOf(config), keyLines, erased);
  return endInOpened(config, restoring);
}

async function endInOpened(config: Config, { rootKeys, erased, expectAccepted, onPhase }: Restoring): Promise<number> {
  const fail = (error: unknown): void => {
    throw error;
  };
  const service = await openProfile(config, {
    rootKeys,
    prepares: false,
    isVerb: true,
    acceptsOlderLog: true,
    onError: fail,
    onBroken: fail,
  });
  try {
    // Threat: an attacker who can write to the stores substitutes a forged log. Every later start trusts the log
    // accepted by this restore.
    onPhase('verifying the log');
    await expectWholeLog(service.vault);
    onPhase('recording what was erased since');
    const lost = await findUnreadableTokens(service.vault.log, (keyId) => erased.ids.has(keyId));
    expectAccepted(lost);
    await closeUnreadableTokens(service.vault, lost);
    await acceptLog(service.vault);
    return lost.length;
  } finally {
    await service.close();
  }
}
