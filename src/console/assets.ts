import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const assetsFolder = fileURLToPath(new URL('../console/assets/', import.meta.url));

/**
 * Returns the path under which the console serves its style sheet, scripts and icon. The path contains a hash of these
 * files, so browsers can cache them until they change.
 */
export function assetsPath(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(assetsFolder).sort()) hash.update(name).update(readFileSync(join(assetsFolder, name)));
  return `/assets/${hash.digest('hex').slice(0, 16)}`;
}
