import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** Puts a directory in the place of a month's file, so that nothing can be recorded in it. `undo` restores the file. */
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
