import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { lockData } from '../adapters/sqlite/data-lock.js';
import { StoreBroken } from '../adapters/sqlite/database-error.js';

/**
 * Takes a data directory for this process: makes it (owner only) when it is not there, and refuses it when it cannot be
 * written, or when another process holds it. Throws StoreBroken.
 */
export async function takeDataDirectory(dataDir: string): Promise<{ release(): void }> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StoreBroken(`the data directory ${dataDir} cannot be ${reasonOf(error)}`);
  }
  const lock = lockData(dataDir);
  if (lock === null) {
    throw new StoreBroken(
      `another Strongroom process uses ${dataDir}. Stop it first, or choose another directory with --data.`,
    );
  }
  return lock;
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
