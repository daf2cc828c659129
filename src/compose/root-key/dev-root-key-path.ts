import { resolve } from 'node:path';

/**
 * Returns the absolute path of the root key for `--dev` data. It is next to the data directory: `./data.root-key` for
 * `./data`.
 */
export function devRootKeyPath(dataDir: string): string {
  return `${resolve(dataDir)}.root-key`;
}
