import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Resolves the symbolic links in a path. The last parts of the path do not have to exist. */
export function realPath(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(realPath(parent), basename(absolute));
  }
}
