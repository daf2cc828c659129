import { existsSync, mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Replaces a month's file with a directory, so that nothing can be recorded in the file. `undo` restores the file. There
 * is no file yet if the first records are still in the journal.
 */
export function obstruct(dataDir: string, month: string): { undo(): void } {
  const file = join(dataDir, `access-${month}.db`);
  const exists = existsSync(file);
  if (exists) renameSync(file, `${file}.aside`);
  mkdirSync(file);
  return {
    undo() {
      rmdirSync(file);
      if (exists) renameSync(`${file}.aside`, file);
    },
  };
}
