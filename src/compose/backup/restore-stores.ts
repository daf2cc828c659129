import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { chmod, copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fsyncPathSync } from '../../adapters/shared/fsync-path-sync.js';
import { writeKeys } from '../../adapters/sqlite/backup/write-keys.js';
import { expectWholeLog } from '../../audit/continuity.js';
import { type Erased, findErased, recordErased } from '../../commands/recovery/record-erased.js';
import { BackupRefused, type ErasedKeys, type OnPhase } from '../../ports/backup.js';
import { shredWholeLog } from '../../projections/shredder.js';
import { acceptLog } from '../../vault/log-behind.js';
import type { Config } from '../config/config.js';
import { storeUrls } from '../config/store-urls.js';
import { lockDataDirectory } from '../embedded/data-directory.js';
import { fileErrorCode } from '../files/file-error-code.js';
import { fsyncPath } from '../files/fsync-path.js';
import { repairStores } from '../open-profile.js';
import { restoringName } from '../root-key/holds-vault.js';
import { keysDatabaseOf } from './stores-to-copy.js';

/**
 * The names that an empty data directory may contain: the root of some file systems contains `lost+found`, and an
 * interrupted restore leaves its subdirectory and the lock file.
 */
const leftInEmpty: ReadonlySet<string> = new Set(['lost+found', 'lock', restoringName]);

export type Restoring = {
  readonly config: Config;
  readonly rootKeys: readonly [Buffer, ...Buffer[]];
  /** The backup's folder. `files` contains the names of the store files in that folder. */
  readonly folder: string;
  readonly files: readonly string[];
  readonly keyLines: AsyncIterable<string>;
  readonly erased: ErasedKeys;
  /** The ids of the tenants whose identity keys are all in `erased`. */
  readonly erasedTenants: ReadonlySet<string>;
  readonly onPhase: OnPhase;
  /**
   * Stops the restore when it is aborted. In the embedded profile, nothing is left behind then. In the cluster profile,
   * throws BackupRefused once all keys are written, with the command that finishes the restore.
   */
  readonly signal: AbortSignal;
  /** Throws if anything was erased after the backup was made and the operator has not accepted these erasures. */
  readonly expectAccepted: (found: Erased) => void;
};

/**
 * Restores the stores from a backup. Never restores a key that was erased after the backup was made. Returns what was
 * erased after the backup was made.
 */
export function restoreStores(restoring: Restoring): Promise<Erased> {
  return restoring.config.settings.profile === 'embedded' ? restoreFiles(restoring) : restoreKeys(restoring);
}

/**
 * Throws BackupRefused if the data directory is not empty. What an interrupted restore has left in the directory does
 * not count, unless that restore had already moved some of its files out of its subdirectory.
 */
export function expectNoData({ settings }: Config): void {
  if (settings.profile !== 'embedded' || !existsSync(settings.data)) return;
  const { data } = settings;
  const entries = namesIn(data);
  if (entries.every((name) => leftInEmpty.has(name))) return;
  throw new BackupRefused(
    entries.includes(restoringName)
      ? `${data} contains a restore that was interrupted when it was almost complete. Remove everything in ${data}, ` +
          'then run the command again.'
      : `${data} is not empty; nothing was changed. Choose another directory with --data.`,
  );
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BackupRefused(
      `${directory} cannot be read as a directory (${code}). Run this as the user that owns it, or choose another ` +
        'directory with --data.',
    );
  }
}

/**
 * Restores the files into a subdirectory of the data directory. When all files are complete, moves them to the data
 * directory and then removes the subdirectory. As long as the subdirectory exists, no command uses the data directory,
 * so an interrupted restore never looks like a vault. The data directory itself is never replaced, because it may be a
 * mount point, or its parent may belong to another user.
 */
async function restoreFiles(restoring: Restoring): Promise<Erased> {
  const { config } = restoring;
  const dataDir = resolve(config.settings.data);
  const part = join(dataDir, restoringName);
  const isNew = !existsSync(dataDir);
  const problems: Error[] = [];
  const lock = await lockDataDirectory(dataDir, (error) => problems.push(error));
  try {
    // Checks the directory again, because another process may have used it before it was locked.
    expectNoData(config);
    try {
      rmSync(part, { recursive: true, force: true });
      mkdirSync(part, { mode: 0o700 });
      const ended = await fillDirectory(part, restoring);
      for (const problem of problems) throw problem;
      restoring.signal.throwIfAborted();
      moveFiles(part, dataDir);
      return ended;
    } catch (error) {
      // Once the first file has been moved, the subdirectory must remain.
      if (namesIn(dataDir).every((name) => leftInEmpty.has(name))) {
        rmSync(part, { recursive: true, force: true });
        rmSync(isNew ? dataDir : join(dataDir, 'lock'), { recursive: true, force: true });
      }
      restoring.signal.throwIfAborted();
      throw unwritable(dataDir, error);
    }
  } finally {
    lock.release();
  }
}

async function fillDirectory(part: string, restoring: Restoring): Promise<Erased> {
  const { config, folder, files, keyLines, erased, onPhase } = restoring;
  onPhase('copying the log, the rows and the access log');
  for (const file of files) {
    await copyFile(join(folder, file), join(part, file));
    // The copy has the mode of the original, which may have been stored where modes are not kept.
    await chmod(join(part, file), 0o600);
  }
  onPhase('writing the keys');
  await writeKeys(part, keyLines, erased);
  const ended = await endInOpened({ ...config, settings: { ...config.settings, data: part } }, restoring);
  rmSync(join(part, 'lock'), { force: true });
  onPhase('saving the files to disk');
  for (const file of readdirSync(part)) await fsyncPath(join(part, file));
  await fsyncPath(part);
  return ended;
}

function moveFiles(from: string, to: string): void {
  for (const file of readdirSync(from)) renameSync(join(from, file), join(to, file));
  fsyncPathSync(to);
  rmdirSync(from);
  fsyncPathSync(to);
}

/** Returns the message for the operator if an operation on a file failed. Otherwise returns the error. */
function unwritable(dataDir: string, error: unknown): unknown {
  const code = fileErrorCode(error);
  if (code === null) return error;
  return new BackupRefused(
    `the backup cannot be restored into ${dataDir} (${code}). Make sure that this user may write there and that ` +
      'there is enough space, or choose another directory with --data.',
  );
}

/**
 * Restores the keys. Before writing any key, compares the log with the list of erased keys. If erasures are missing
 * from the log and the operator has not accepted them, throws an error, and the key store remains empty.
 *
 * If the restore is interrupted while it writes the keys, the operator repeats it. Once all keys are written, they
 * cannot be written again: the vault that opens them may add documents, and the database user cannot remove documents.
 * `acceptOlderLog` then finishes the restore.
 */
async function restoreKeys(restoring: Restoring): Promise<Erased> {
  const { config, keyLines, erased, expectAccepted, onPhase, signal } = restoring;
  const urls = storeUrls(config);
  const { openEventStoreDb } = await import('../../adapters/eventstoredb/open-event-store-db.js');
  const { writeMongoKeys } = await import('../../adapters/mongodb/backup/write-mongo-keys.js');
  const { log, close } = await openEventStoreDb(urls.eventstore);
  try {
    onPhase('comparing the log with the list of erased keys');
    expectAccepted(await findErased(log, isErasedIn(restoring)));
  } finally {
    await close();
  }
  onPhase('writing the keys');
  await writeMongoKeys(urls.keys, keysDatabaseOf(config), keyLines, erased);
  try {
    return await endInOpened(config, restoring);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new BackupRefused(
      'interrupted after all keys were written. Run `strongroom restore --accept-older-log` to finish the restore.',
    );
  }
}

function endInOpened(config: Config, restoring: Restoring): Promise<Erased> {
  const { rootKeys, expectAccepted, onPhase, signal } = restoring;
  return repairStores(config, rootKeys, async ({ vault }) => {
    const log: typeof vault.log = {
      ...vault.log,
      async readClear(after, limit) {
        signal.throwIfAborted();
        return vault.log.readClear(after, limit);
      },
    };
    // Threat: an attacker who can write to the stores substitutes a forged log. Every later start trusts the log
    // accepted by this restore.
    onPhase('verifying the log');
    await expectWholeLog({ ...vault, log });
    onPhase('recording what was erased since');
    const found = await findErased(log, isErasedIn(restoring));
    expectAccepted(found);
    await recordErased(vault, found);
    await acceptLog(vault, () => shredWholeLog(log, vault.keys, Number.POSITIVE_INFINITY));
    return found;
  });
}

/**
 * Returns whether a key or a tenant was erased, according to the list of erased keys. A key that the backup lacks, but
 * that is not in the list, was lost.
 */
function isErasedIn({ erased, erasedTenants }: Restoring): Parameters<typeof findErased>[1] {
  return { key: (keyId) => erased.ids.has(keyId), tenant: (tenantId) => erasedTenants.has(tenantId) };
}
