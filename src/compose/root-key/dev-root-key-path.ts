import { resolve } from 'node:path';

/** Where `--dev` keeps its root key: beside the data directory (`./data` has `./data.root-key`), as an absolute path. */
export function devRootKeyPath(dataDir: string): string {
  return `${resolve(dataDir)}.root-key`;
}
