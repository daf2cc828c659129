import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'last-backup';

/**
 * Records when the newest backup was begun (ms). It is a file beside the stores, because a second process that wrote to
 * `keys.db` could hold up an erasure.
 */
export async function writeLastBackup(dataDir: string, madeAt: number): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(`${file}.part`, `${new Date(madeAt).toISOString()}\n`, { mode: 0o600 });
  await rename(`${file}.part`, file);
}

/** Returns when the newest backup was begun (ms), or null if none was recorded. */
export async function readLastBackup(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, fileName), 'utf8').catch(() => '');
  const madeAt = Date.parse(text.trim());
  return Number.isNaN(madeAt) ? null : madeAt;
}
