import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Month } from '../../access-log/month.js';

const shape = /^access-(\d{4}-\d{2})\.db$/;

export function monthFile(month: Month): string {
  return `access-${month}.db`;
}

/** Returns the months that have a file, oldest first. */
export function monthsOnDisk(dataDir: string): Month[] {
  return readdirSync(dataDir)
    .flatMap((name) => shape.exec(name)?.[1] ?? [])
    .sort();
}

/**
 * Returns a string that identifies the current file of a month, or null if the month has no file. After a file has been
 * moved or removed, entries can still be written through an open handle, but no reader will find them. Callers
 * therefore compare this string before each use of a handle. Throws StoreUnavailable if the path is not a file.
 */
export function fileIdentity(dataDir: string, month: Month): string | null {
  const found = statSync(join(dataDir, monthFile(month)), { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new StoreUnavailable('access log', 'not_a_file');
  return `${found.dev}:${found.ino}`;
}
