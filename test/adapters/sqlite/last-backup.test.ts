import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readLastBackup, writeLastBackup } from '#src/adapters/sqlite/backup/last-backup.js';
import { flushedPaths } from '../../support/flushed-paths.js';
import { tempDir } from '../../support/process.js';

test.runIf(process.platform === 'linux')('the time of the last backup survives a power failure', async () => {
  const dataDir = tempDir();
  const flushed = await flushedPaths((path) => [basename(path), existsSync(join(dataDir, 'last-backup'))]);
  await writeLastBackup(dataDir, 1_000);
  expect(flushed).toEqual([
    ['last-backup.part', false],
    [basename(dataDir), true],
  ]);
  expect(await readLastBackup(dataDir)).toBe(1_000);
});
