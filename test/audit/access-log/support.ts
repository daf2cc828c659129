import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** Replaces a month's file with a directory, so that nothing can be recorded in the file. `undo` restores the file. */
export function obstruct(dataDir: string, month: string): { undo(): void } {
  const file = join(dataDir, `access-${month}.db`);
  renameSync(file, `${file}.aside`);
  mkdirSync(file);
  return {
    undo() {
      rmdirSync(file);
      renameSync(`${file}.aside`, file);
    },
  };
}
