import type { Config } from '../compose/config.js';
import { readRootKeys, rootKeyPlaceOf } from '../compose/root-key/root-key-place.js';
import { Failure } from './failure.js';

/**
 * The root key that the settings name, and behind it the one that a rotation goes over to, if there is one. `serve` without
 * `--dev` still refuses data that `--dev` made. Throws Failure.
 */
export async function rootKeysOf(config: Config): Promise<readonly [Buffer, ...Buffer[]]> {
  const read = await readRootKeys(rootKeyPlaceOf(config));
  if (!read.ok) throw new Failure(read.message);
  return read.keys;
}
