import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'last-backup';

/**
 * Records when the newest backup began (ms). Uses a separate file, because the backup runs in another process, and
 * writing to `keys.db` from there could delay an erasure.
 */
export async function writeLastBackup(dataDir: string, madeAt: number): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(`${file}.part`, `${new Date(madeAt).toISOString()}\n`, { mode: 0o600 });
  await rename(`${file}.part`, file);
}

/** Returns when the newest backup began (ms), or null if none was recorded. */
export async function readLastBackup(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, fileName), 'utf8').catch(() => '');
  const madeAt = Date.parse(text.trim());
  return Number.isNaN(madeAt) ? null : madeAt;
}
