import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FoundProblem } from '../../../ports/store-problem.js';
import { damagedFile, StoreBroken } from '../database/database-error.js';
import { openDatabase } from '../database/open-database.js';
import { reading } from '../database/reading.js';
import { expectNotEmpty, monthFile, monthsOnDisk } from './month-files.js';

/**
 * Runs SQLite's `integrity_check` on each month's file in a directory, and returns how many files it checked and a
 * problem for each damaged one. The check reads the whole file in one step. It finds damaged pages, and entries that
 * are not in an index. It does not compare the content of entries with their hashes, as `audit verify` does. `reader`
 * is for files that a service may be using: the check does not block its writes. Calls `onFile` with the name of each
 * file before it is checked.
 */
export function checkMonths(
  directory: string,
  mode: 'reader' | 'writer',
  onFile: (fileName: string) => void,
): { readonly files: number; readonly damaged: readonly FoundProblem[] } {
  const damaged: FoundProblem[] = [];
  let files = 0;
  for (const month of monthsOnDisk(directory)) {
    const fileName = monthFile(month);
    onFile(fileName);
    const found = problemIn(directory, fileName, mode);
    // The service may have removed the file in the meantime, because it was old.
    if (!existsSync(join(directory, fileName))) continue;
    files += 1;
    if (found !== null) damaged.push(found);
  }
  return { files, damaged };
}

function problemIn(directory: string, fileName: string, mode: 'reader' | 'writer'): FoundProblem | null {
  try {
    const database = openDatabase(join(directory, fileName), fileName, mode, (opened) =>
      expectNotEmpty(opened, fileName),
    );
    try {
      const result = reading(() => database.pragma('integrity_check(1)', { simple: true }), fileName);
      return result === 'ok' ? null : damagedFile(fileName).found;
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof StoreBroken) return error.found;
    throw error;
  }
}
