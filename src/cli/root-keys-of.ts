import type { Config } from '../compose/config/config.js';
import { faultOfContainer } from '../compose/container.js';
import { readRootKeys, rootKeyPlaceOf } from '../compose/root-key/root-key-place.js';
import { Failure } from './failure.js';

/**
 * Throws Failure if this process runs in a container in an unsafe way, for example as root. Call it before the command
 * creates anything.
 */
export function expectSafeContainer(config: Config): void {
  const fault = faultOfContainer(config);
  if (fault !== null) throw new Failure(fault);
}

/**
 * Returns the configured root key, followed by the next root key if a rotation is unfinished. Accepts the root key of
 * `--dev` data. `serve` without `--dev` rejects such data later. Throws Failure if a key cannot be read.
 */
export async function rootKeysOf(config: Config): Promise<readonly [Buffer, ...Buffer[]]> {
  expectSafeContainer(config);
  const read = await readRootKeys(rootKeyPlaceOf(config));
  if (!read.ok) throw new Failure(read.message);
  return read.keys;
}
