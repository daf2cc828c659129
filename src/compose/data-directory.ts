import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { lockData } from '../adapters/sqlite/data-lock.js';
import { StoreBroken } from '../adapters/sqlite/database-error.js';

const files = ['lock', ...['keys.db', 'vault.db'].flatMap((file) => [file, `${file}-wal`, `${file}-shm`])];

/**
 * Takes a data directory for this process: makes it (owner only) when it is not there, and refuses it when it cannot be
 * written, when others may write to it, or when another process holds it. Throws StoreBroken.
 */
export async function takeDataDirectory(dataDir: string): Promise<{ release(): void }> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StoreBroken(`the data directory ${dataDir} cannot be ${reasonOf(error)}`);
  }
  await expectPrivate(dataDir);
  for (const file of files) await expectWritable(join(dataDir, file));
  const lock = lockData(dataDir);
  if (lock === null) {
    throw new StoreBroken(
      `another Strongroom process uses ${dataDir}. Stop it first, or choose another directory with --data.`,
    );
  }
  return lock;
}

/** Threat: who may write to the directory can put files of their own in the place of ours. */
async function expectPrivate(dataDir: string): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  if (uid !== process.geteuid?.()) {
    throw new StoreBroken(
      `the data directory ${dataDir} belongs to another user. Run this as that user, or choose another one with --data.`,
    );
  }
  if ((mode & 0o022) !== 0) {
    throw new StoreBroken(
      `others than its owner may write to the data directory ${dataDir}. Look whether its files are yours, then run: chmod 700 ${dataDir}`,
    );
  }
}

/** SQLite opens a file that it may not write for reading alone, and locks nothing then; it says so at the first write. */
async function expectWritable(file: string): Promise<void> {
  try {
    await access(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw new StoreBroken(`${file} cannot be ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return 'written. Give this user write permission on it, or choose another one with --data.';
  }
  if (code === 'ENOSPC') return 'made: the disk is full. Free some space and start again.';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'made: a file is in the way. Choose another one with --data.';
  return `used (${code ?? 'unknown reason'}). Choose another one with --data.`;
}
