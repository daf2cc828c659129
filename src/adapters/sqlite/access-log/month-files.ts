import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreUnavailable } from '../../../ports/store-unavailable.js';
import type { Month } from '../../access-log/month.js';

const shape = /^access-(\d{4}-\d{2})\.db$/;

export function monthFile(month: Month): string {
  return `access-${month}.db`;
}

/** The months that have a file, the oldest first. */
export function monthsOnDisk(dataDir: string): Month[] {
  return readdirSync(dataDir)
    .flatMap((name) => shape.exec(name)?.[1] ?? [])
    .sort();
}

/**
 * Which file lies at a path now; null: none. A handle of a file that was moved or removed would go on and take records
 * that nobody finds again, so this is compared before each use. Throws StoreUnavailable when something else lies there.
 */
export function fileIdentity(dataDir: string, month: Month): string | null {
  const found = statSync(join(dataDir, monthFile(month)), { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new StoreUnavailable('access log', 'not_a_file');
  return `${found.dev}:${found.ino}`;
}
