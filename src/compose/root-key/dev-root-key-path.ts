import { resolve } from 'node:path';

/**
 * Returns the absolute path of the root key for `--dev` data. The key is next to the data directory. For example, the
 * key for `./data` is `./data.root-key`.
 */
export function devRootKeyPath(dataDir: string): string {
  return `${resolve(dataDir)}.root-key`;
}
