import { closeSync, fsyncSync, openSync } from 'node:fs';

/**
 * Flushes a file or directory to disk. After a directory was flushed, the creation or removal of an entry survives a
 * power failure.
 */
export function fsyncPathSync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
