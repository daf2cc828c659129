import type { Config } from '../compose/config/config.js';
import { faultOfContainer } from '../compose/container.js';
import { readRootKeys, rootKeyPlaceOf } from '../compose/root-key/root-key-place.js';
import { Failure } from './failure.js';

/** Throws Failure if the container is not safe to run in. Call it before anything is created. */
export function expectSafeContainer(config: Config): void {
  const fault = faultOfContainer(config);
  if (fault !== null) throw new Failure(fault);
}

/**
 * Returns the configured root key, followed by the next root key if a rotation is unfinished. Throws Failure. The key
 * of `--dev` data counts as configured, but `serve` without `--dev` rejects such data later.
 */
export async function rootKeysOf(config: Config): Promise<readonly [Buffer, ...Buffer[]]> {
  expectSafeContainer(config);
  const read = await readRootKeys(rootKeyPlaceOf(config));
  if (!read.ok) throw new Failure(read.message);
  return read.keys;
}
