import { resolve } from 'node:path';

/**
 * Returns the absolute path where `--dev` keeps its root key: beside the data directory (`./data` has
 * `./data.root-key`).
 */
export function devRootKeyPath(dataDir: string): string {
  return `${resolve(dataDir)}.root-key`;
}
