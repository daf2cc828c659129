import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fsyncPathSync } from '../../shared/fsync-path-sync.js';

const fileName = 'last-backup';

/**
 * Records the time when the newest backup began, in ms. The record survives a power failure. It is a separate file,
 * because the backup runs in another process, and a write to `keys.db` from that process could delay an erasure.
 */
export async function writeLastBackup(dataDir: string, madeAt: number): Promise<void> {
  const file = join(dataDir, fileName);
  await writeFile(`${file}.part`, `${new Date(madeAt).toISOString()}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.part`, file);
  fsyncPathSync(dataDir);
}

/** Returns the time when the newest backup began, in ms. Returns null if no backup has been recorded. */
export async function readLastBackup(dataDir: string): Promise<number | null> {
  const text = await readFile(join(dataDir, fileName), 'utf8').catch(() => '');
  const madeAt = Date.parse(text.trim());
  return Number.isNaN(madeAt) ? null : madeAt;
}
