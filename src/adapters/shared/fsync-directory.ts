import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Flushes a directory to disk, so that the creation or removal of an entry survives a power failure. */
export function fsyncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
