import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'last-backup';

/**
 * Records the time when the newest backup began, in ms. The time is stored in a separate file, because the backup runs
 * in another process, and a write to `keys.db` from that process could delay an erasure.
 */
export async function writeLastBackup(dataDir: string, madeAt: number): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(`${file}.part`, `${new Date(madeAt).toISOString()}\n`, { mode: 0o600 });
  await rename(`${file}.part`, file);
}

/** Returns the time when the newest backup began, in ms. Returns null if no backup has been recorded. */
export async function readLastBackup(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, fileName), 'utf8').catch(() => '');
  const madeAt = Date.parse(text.trim());
  return Number.isNaN(madeAt) ? null : madeAt;
}
