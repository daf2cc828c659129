import type { Config } from '../compose/config/config.js';
import { faultOfContainer } from '../compose/container.js';
import { readRootKeys, rootKeyPlaceOf } from '../compose/root-key/root-key-place.js';
import { Failure } from './failure.js';

/** Checks that the container is safe to run in, before anything is created. Throws Failure. */
export function expectSafeContainer(config: Config): void {
  const fault = faultOfContainer(config);
  if (fault !== null) throw new Failure(fault);
}

/**
 * Returns the root key that the settings name, followed by the next key of an unfinished rotation, if any. `serve`
 * without `--dev` still rejects data that `--dev` created. Throws Failure.
 */
export async function rootKeysOf(config: Config): Promise<readonly [Buffer, ...Buffer[]]> {
  expectSafeContainer(config);
  const read = await readRootKeys(rootKeyPlaceOf(config));
  if (!read.ok) throw new Failure(read.message);
  return read.keys;
}
