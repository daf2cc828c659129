import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Returns the directory on a path that this user may not search, so it is unknown whether the path exists.
 * Returns null if the path can be looked up, whether or not it exists.
 */
export function unsearchableDirectory(path: string): string | null {
  let blocked = resolve(path);
  if (!isDenied(blocked)) return null;
  while (isDenied(blocked)) blocked = dirname(blocked);
  return blocked;
}

/** Explains that a data directory cannot be looked up because of a directory that this user may not search. */
export function unsearchableText(dataDir: string, directory: string): string {
  return (
    `the data directory ${dataDir} cannot be looked up: this user may not search ${directory}. ` +
    'Choose another data directory with --config or --data, or run this as a user that may search it.'
  );
}

function isDenied(path: string): boolean {
  try {
    statSync(path, { throwIfNoEntry: false });
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}
