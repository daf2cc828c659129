import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestService } from '../../support/test-service.js';

/**
 * Replaces a month's file with a directory, so that nothing can be recorded for this month. `undo` restores the file.
 */
export async function obstruct({ dataDir, vault }: TestService, month: string): Promise<{ undo(): void }> {
  // The month's first records may still be in the journal. Reading the heads makes the vault create the file.
  await vault.accessLog.heads(0);
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
