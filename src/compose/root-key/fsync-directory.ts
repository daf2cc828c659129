import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A name that was given or taken away in this directory stays so after a power cut. */
export function fsyncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
