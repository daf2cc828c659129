import { statfsSync } from 'node:fs';
import type { FoundProblem } from '../../../ports/store-problem.js';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import { StoreBroken } from '../database/database-error.js';

/** Returns the reason why the files can no longer be used, as a message for the operator. */
export function problemOf(error: unknown): string | FoundProblem {
  if (error instanceof StoreBroken && error.found !== null) return error.found;
  return error instanceof Error ? error.message : 'the writer failed';
}

/** Returns the reason why the files cannot be opened, as a message for the operator who starts the service. */
export function startFailure(error: unknown, dataDir: string): string | FoundProblem {
  if (error instanceof StoreBroken) return problemOf(error);
  if (!(error instanceof StoreUnavailable)) {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : 'not an error';
    return `unexpected error while the files were opened, please report it: ${what}`;
  }
  const { store, reason } = error;
  if (reason === 'full') {
    // SQLite reports some failures of the disk as if it were full.
    return hasSpace(dataDir)
      ? `the disk under ${store} has free space but accepts no data. Check the disk, and the quota and the limit on ` +
          'file sizes (`ulimit -f`) of this user, then start again.'
      : `the disk under ${store} is full. Free some space, then start again.`;
  }
  return `another program holds a lock on ${store} (${reason}). Stop it, then start again.`;
}

/** With less free space, the disk counts as full when the files are opened. */
const spaceBytesMin = 1024 * 1024;

function hasSpace(dataDir: string): boolean {
  try {
    // Some file systems, such as btrfs, do not limit the number of files, and report 0 for both numbers.
    const { bavail, bsize, files, ffree } = statfsSync(dataDir);
    return bavail * bsize >= spaceBytesMin && (files === 0 || ffree > 0);
  } catch {
    return false;
  }
}
