import { open } from 'node:fs/promises';

/** Flushes a file or directory to disk, without blocking this thread. */
export async function fsyncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
